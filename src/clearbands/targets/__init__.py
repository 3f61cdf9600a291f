"""Targets: where they can lie, on which scale they are learned, or which classes they are."""
