"""Who changed what: an append-only log, hash-chained per organisation."""
