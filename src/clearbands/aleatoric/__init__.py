"""(X, residual) -> aleatoric widths."""
