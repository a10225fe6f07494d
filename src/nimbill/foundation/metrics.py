"""What the service counts, for Prometheus; no organisation and no user is named."""

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

# looked up once: there are only so many routes, and looking up costs more than counting
_requests_of = cache(_requests.labels)
_seconds_of = cache(_seconds.labels)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """A method and a route of ours, never a word of the caller's: each is kept for ever."""
    _requests_of(method, route, str(status)).inc()
    _seconds_of(method, route).observe(seconds)


def exposition() -> bytes:
    """The figures of all workers together, where several run."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
