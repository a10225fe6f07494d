"""Metrics of one process and of several workers."""

import subprocess
import sys
from pathlib import Path

import pytest

from nimbill.foundation import metrics

COUNT = """
from nimbill.foundation import metrics
for _ in range(2):
    metrics.count_request("GET", "/healthz", 200, 0.001)
"""


def test_one_process_renders_its_own_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    metrics.count_request("GET", "/counted", 200, 0.02)

    rendered = metrics.render_metrics()

    assert b'nimbill_requests_total{method="GET",route="/counted",status="200"} 1.0' in rendered
    assert b'nimbill_request_seconds_sum{method="GET",route="/counted"} 0.02' in rendered


def test_metrics_of_several_workers_are_summed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    for _ in range(2):
        subprocess.run([sys.executable, "-c", COUNT], check=True)

    assert b'route="/healthz",status="200"} 4.0' in metrics.render_metrics()
