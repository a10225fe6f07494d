"""CSV exports, stored in the database and downloaded by signed links that expire."""
