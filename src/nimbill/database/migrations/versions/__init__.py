"""One file per change, named by number and purpose; never edited once released."""
