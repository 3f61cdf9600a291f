"""Files of models, which are written whole or not at all."""
