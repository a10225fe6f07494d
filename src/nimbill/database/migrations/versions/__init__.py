"""One revision per file, named by number and purpose; a released revision is never edited."""
