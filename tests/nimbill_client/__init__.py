"""Tests of nimbill-client."""
