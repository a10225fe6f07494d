"""The process that prepares an import leaves it to its parent when it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from nimbill.imports.preparation import ImportRequest

SECONDS_MAX = 60


def read_ignored_signals(process: subprocess.Popen[str]) -> int:
    """As a bit mask; signal 1 is the lowest bit."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    (mask,) = (line.split()[1] for line in lines if line.startswith("SigIgn:"))
    return int(mask, 16)


def test_a_signal_to_all_processes_does_not_end_a_preparation(tmp_path: Path) -> None:
    """Otherwise Ctrl-C in a terminal would count as a failed attempt of the import."""
    request = ImportRequest(
        organisation_id="org_1",
        import_id="imp_1",
        vendor="aws",
        month=None,
        sources=[str(tmp_path / "missing")],
        roots=None,
        folder=str(tmp_path / "work"),
        known_deliveries={},
    )
    with subprocess.Popen(
        [sys.executable, "-m", "nimbill.imports.preparation"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + SECONDS_MAX
        while not read_ignored_signals(process) >> (signal.SIGTERM - 1) & 1:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)

        output, _ = process.communicate(json.dumps(asdict(request)) + "\n", timeout=SECONDS_MAX)

    assert process.returncode == 0
    assert json.loads(output.splitlines()[-1])["prepared"]["problem"]["code"] == "source_missing"
