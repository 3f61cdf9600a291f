"""The paper's experiments: they import clearbands, never the reverse, and are not in the wheel."""
