"""Rows of a table: their labels, weights, order and pieces, and which models see them."""
