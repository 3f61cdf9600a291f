"""Small networks, many at once: trained by torch as one batched model, used with NumPy alone."""
