"""Held-out rows -> lambda, gamma1 and gamma2."""
