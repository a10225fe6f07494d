"""What the service counts, for Prometheus; no organisation and no user is named."""

import os

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4"  # the framework adds the charset

requests = Counter("nimbill_requests", "Requests answered.", ["method", "route", "status"])
seconds = Histogram(
    "nimbill_request_seconds",
    "From the first byte of a request to the last of its answer.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def exposition() -> bytes:
    """The figures of all workers together, where several run."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
