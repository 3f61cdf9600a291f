"""The answers of a fitted model."""
