"""Vendor file formats, one file each: their columns and line types."""
