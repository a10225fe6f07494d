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


def test_rendered_pdfs_are_measured_and_failures_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    before = read_samples()

    with metrics.measure_pdf():
        pass
    with pytest.raises(ValueError, match="broken"), metrics.measure_pdf():
        raise ValueError("broken")

    after = read_samples()
    for name in ("nimbill_pdf_seconds_count", "nimbill_pdf_failures_total"):
        assert after[name] == before[name] + 1


def read_samples() -> dict[str, float]:
    lines = [line for line in metrics.render_metrics().decode().splitlines() if line[0] != "#"]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


REPORT_POOL = """
import sys
from nimbill.foundation import metrics
metrics.report_pool(in_use=3, idle=2, limit=20)
print("reported", flush=True)
sys.stdin.read()
"""


def test_pools_of_living_workers_are_summed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", REPORT_POOL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    name = 'nimbill_database_pool_connections{state="in_use"}'
    in_use = []
    for worker in (None, *workers):
        if worker is not None:
            worker.communicate()
        else:
            for each in workers:
                assert each.stdout is not None
                assert each.stdout.readline() == "reported\n"
        in_use.append(read_samples().get(name))

    assert in_use == [6, 3, None]
