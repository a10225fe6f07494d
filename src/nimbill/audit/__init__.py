"""The audit log: who changed what, append-only and hash-chained per organisation."""
