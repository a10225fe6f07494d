"""Prometheus metrics. Labels never name an organisation or a user."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import perf_counter

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4"  # the framework adds the charset

_requests = Counter("nimbill_requests", "Requests answered.", ["method", "route", "status"])
_seconds = Histogram(
    "nimbill_request_seconds",
    "From the first byte of a request to the last of its answer.",
    ["method", "route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
_pdf_seconds = Histogram(
    "nimbill_pdf_seconds",
    "Duration of rendering a PDF.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
_pdf_failures = Counter("nimbill_pdf_failures", "PDFs that could not be rendered.")
_webhook_attempts = Counter(
    "nimbill_webhook_attempts",
    "Attempts to deliver a webhook, by outcome: delivered, retried, failed, gone.",
    ["outcome"],
)
# Summed over the workers that are alive.
_pool = Gauge(
    "nimbill_database_pool_connections",
    "Database connections of all workers: in use, idle, and the most they may open.",
    ["state"],
    multiprocess_mode="livesum",
)

# Cached because the look-up of a label costs more than counting.
_request_counter = cache(_requests.labels)
_request_histogram = cache(_seconds.labels)


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request. `route` is a declared path: labels from callers would grow without bound."""
    _request_counter(method, route, str(status)).inc()
    _request_histogram(method, route).observe(seconds)


@contextmanager
def measure_pdf() -> Iterator[None]:
    """Measure the rendering of a PDF, or count it as failed."""
    start = perf_counter()
    try:
        yield
    except Exception:
        _pdf_failures.inc()
        raise
    _pdf_seconds.observe(perf_counter() - start)


def report_pool(*, in_use: int, idle: int, limit: int) -> None:
    """Store the state of this worker's connection pool."""
    for state, number in (("in_use", in_use), ("idle", idle), ("limit", limit)):
        _pool.labels(state).set(number)


def count_webhook_attempt(outcome: str) -> None:
    """Count an attempt: delivered, to be retried, given up, or refused with 410."""
    _webhook_attempts.labels(outcome).inc()


class GaugeValues:
    """A gauge that is computed for each response: its values by the values of its labels."""

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self._name, self._text, self._labels = name, text, labels
        self.values: dict[Sequence[str], float] = {}

    def add(self, *labels: str, value: float) -> None:
        self.values[labels] = self.values.get(labels, 0) + value

    def to_family(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(self._name, self._text, labels=self._labels)
        for labels, value in sorted(self.values.items()):
            family.add_metric(labels, value)
        return family


class _ComputedGauges(Collector):
    def __init__(self, gauges: Sequence[GaugeValues]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[GaugeMetricFamily]:
        return (gauge.to_family() for gauge in self._gauges)


def render_metrics(gauges: Sequence[GaugeValues] = ()) -> bytes:
    """Render the metrics of all workers and these gauges in the Prometheus text format."""
    registry = CollectorRegistry()
    registry.register(_ComputedGauges(gauges))
    computed = generate_latest(registry)
    return _render_counted(os.environ) + computed


def _render_counted(environment: Mapping[str, str]) -> bytes:
    folder = environment.get("PROMETHEUS_MULTIPROC_DIR")
    if folder is None:
        return generate_latest(REGISTRY)
    _remove_gauges_of_dead_workers(Path(folder))
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _remove_gauges_of_dead_workers(folder: Path) -> None:
    """A worker that was replaced has no connections any more. Its counters stay."""
    for file in folder.glob("gauge_live*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not _is_alive(int(pid)):
            with suppress(FileNotFoundError):  # another worker removed it
                file.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
