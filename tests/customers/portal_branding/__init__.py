"""Tests of the branding of the portal."""
