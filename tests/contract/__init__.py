"""What the code declares, held against the specification, the database and itself."""
