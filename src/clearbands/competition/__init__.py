"""Parts that compete: centers by their errors, pairs by their calibrated loss, on unseen rows."""
