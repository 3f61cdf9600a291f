"""Prediction intervals you can trust, that say why they are wide."""
