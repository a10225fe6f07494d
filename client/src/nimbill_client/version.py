"""The version of the client, which is that of the service."""

VERSION = "0.1.0"
