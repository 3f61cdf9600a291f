"""The epistemic and the aleatoric part: each gives widths around a center."""
