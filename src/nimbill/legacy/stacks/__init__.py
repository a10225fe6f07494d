"""Stacks of version 3: created from a template, updated and deleted."""
