"""What a fitted model answers."""
