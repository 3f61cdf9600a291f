"""Files as people have them, read into tables."""
