"""CSV files: made complete, kept in the database, handed out by signed links that expire."""
