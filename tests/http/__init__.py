"""Tests of request bodies, forms, problem details and idempotency keys."""
