"""Code as users write it, for type checkers alone: `tests/test_types.py` runs mypy on it."""
