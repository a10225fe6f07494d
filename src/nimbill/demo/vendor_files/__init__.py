"""vendor_files."""
