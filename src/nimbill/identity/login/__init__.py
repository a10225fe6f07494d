"""Logins: OAuth token endpoints, console sessions and limits on failed attempts."""
