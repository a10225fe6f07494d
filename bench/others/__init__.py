"""What a user would pick instead, written to be measured beside the service."""
