"""Tests of the room of agent."""
