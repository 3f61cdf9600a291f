"""Models of conditional quantiles: `fit(X, y)`, then `predict_quantiles(X)` -> (n, q), sorted."""
