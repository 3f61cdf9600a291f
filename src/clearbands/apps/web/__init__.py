"""A service that answers with a model over HTTP, and a page to explore a model."""
