"""Models that are fitted to (X, y) and predict a center, quantiles or classes."""
