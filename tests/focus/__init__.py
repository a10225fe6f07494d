"""Checks of the FOCUS files with programs of other authors; `make focus-check` runs them."""
