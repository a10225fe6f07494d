"""Prometheus metrics. Labels never name an organisation or a user."""

import os
from functools import cache

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4"  # the framework adds the charset

_requests = Counter("nimbill_requests", "Requests answered.", ["method", "route", "status"])
_seconds = Histogram(
    "nimbill_request_seconds",
    "From the first byte of a request to the last of its answer.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)

# Cached because the look-up of a label costs more than counting.
_request_counter = cache(_requests.labels)
_request_histogram = cache(_seconds.labels)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request. `route` is a declared path: labels from callers would grow without bound."""
    _request_counter(method, route, str(status)).inc()
    _request_histogram(method, route).observe(seconds)


def render_metrics() -> bytes:
    """Render the metrics of all worker processes in the Prometheus text format."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
