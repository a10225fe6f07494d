"""Everything that runs later: one table, leases, progress, one loop per process."""
