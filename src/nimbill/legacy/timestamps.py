"""The format in which version 3 writes points in time."""

from datetime import datetime


def format_unix_seconds(at: datetime) -> str:
    """Whole Unix seconds, as a string."""
    return str(int(at.timestamp()))
