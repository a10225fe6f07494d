"""The parts of a route: routing, request bodies, forms, problem details, idempotency keys."""
