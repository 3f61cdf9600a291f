"""Words, numbers and small tables, as every page shows them."""
