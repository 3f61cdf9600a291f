"""Tables read from the files that people have."""
