"""Building blocks without I/O to a database: money, months, clock, ids, errors, settings, logs."""
