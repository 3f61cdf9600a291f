"""What a fitted model is asked, and what it answers."""
