"""Prediction intervals you can trust, that say why they are wide."""

__version__ = "0.1.0"
