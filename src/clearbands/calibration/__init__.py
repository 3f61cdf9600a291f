"""Calibration: held-out rows give lambda, gamma1 and gamma2."""
