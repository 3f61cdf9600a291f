"""Experiments on whether the reason that a model gives for wide intervals is the true one."""
