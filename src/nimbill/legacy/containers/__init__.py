"""Containers of version 3, as reported by agents."""
