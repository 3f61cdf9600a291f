"""Neural networks that are trained with torch."""
