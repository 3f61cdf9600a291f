"""Models of the center and of quantiles: (X, y) in, a center or quantiles out."""
