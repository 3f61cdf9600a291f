"""New rows beside those of the fit: how unlike they are, how far beyond, which to label next."""
