"""From rows that were given to what a `ClearRegressor` calibrates and keeps."""
