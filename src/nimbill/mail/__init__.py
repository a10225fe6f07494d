"""What we write to people; sent as work, so that no request waits for a mail server."""
