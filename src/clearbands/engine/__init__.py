"""Compiled kernels that fit and evaluate a whole bag of models at once."""
