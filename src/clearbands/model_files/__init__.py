"""What a model file may hold: entries within bounds, a sound schema, types that are known."""
