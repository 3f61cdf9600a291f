"""Networks by torch."""
