"""Tests of what runs later: leases, progress, retries, several runners."""
