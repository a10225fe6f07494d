"""Tests of the audit log: hash chain, checkpoints, audited requests, verification."""
