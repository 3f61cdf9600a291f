"""Tables as users bring them: kinds of columns, an encoder, files."""
