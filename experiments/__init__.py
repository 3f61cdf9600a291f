"""The paper's experiments. They import clearbands, never the reverse, and are not in the wheel."""
