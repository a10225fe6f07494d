"""Deferred work: one table of jobs, leases, retries, and one runner per process."""
