"""Tables as users bring them: the kinds of their columns, and an encoder."""
