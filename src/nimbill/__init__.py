"""Cloud-cost billing for resellers."""

__version__ = "0.1.0"
