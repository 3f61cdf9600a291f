"""Where the center and the epistemic widths come from: ensembles of models."""
