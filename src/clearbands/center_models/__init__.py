"""Models of the center: (X, y) -> one number per row."""
