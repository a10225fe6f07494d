"""Tests of the room of deployments."""
