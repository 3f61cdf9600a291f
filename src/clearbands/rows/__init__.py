"""Rows: who sees which, in what order, how much each counts, and in what pieces."""
