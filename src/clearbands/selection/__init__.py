"""The competition of parts, and their fits."""
