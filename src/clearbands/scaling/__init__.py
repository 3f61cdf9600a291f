"""Fits on tables larger than memory and on several machines: members are tasks, rows in files."""
