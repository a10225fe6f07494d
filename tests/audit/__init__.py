"""Tests of the audit log: the chain, its checkpoints, its route, its verification."""
