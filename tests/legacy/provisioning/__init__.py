"""Tests of the room of provisioning."""
