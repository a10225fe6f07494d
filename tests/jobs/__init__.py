"""Tests of jobs: leases, progress, retries, recurring jobs, several runners."""
