"""Stacks of version 3: what was made from a template, and the moves it goes through."""
