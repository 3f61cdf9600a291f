"""Which parts win, and how they are fitted."""
