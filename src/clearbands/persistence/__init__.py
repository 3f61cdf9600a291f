"""Files of models, written whole or not at all."""
