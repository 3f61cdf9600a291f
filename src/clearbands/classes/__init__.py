"""What ClearClassifier is made of, and what it says."""
