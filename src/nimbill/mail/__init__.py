"""Messages to people, delivered by jobs so that no request waits for a mail server."""
