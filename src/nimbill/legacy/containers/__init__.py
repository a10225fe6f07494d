"""Containers of version 3, as agents report them."""
