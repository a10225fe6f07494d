"""Whichever file call of an import fails, nothing of it counts, and the next try finishes it."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.imports.aws_reports import CUSTOMER, build_report, report_line, write_report
from tests.imports.failing_file_calls import ERROR_CODES, fail_call
from tests.imports.in_process_importer import InProcessImporter, load_totals
from tests.proof.real_server import environment_for

CALLS_MAX = 200


def fail_each_call(importer: InProcessImporter, code: int) -> tuple[int, list[str]]:
    """The first call fails, then the second, until none is left; how many, and what went wrong."""
    importer(write_report(importer.folder / "old.csv", [report_line("1")]))
    new, wrong = (
        write_report(importer.folder / "new.csv", [report_line("2"), report_line("3")]),
        list[str](),
    )
    for number in range(1, CALLS_MAX):
        import_id = importer.start(new)
        prepared = None
        with fail_call(importer.service.settings.data, number, code) as watch:
            try:
                prepared = importer.prepare(import_id)
            except OSError:
                pass
            except Exception as error:  # noqa: BLE001  # any other is a finding
                wrong.append(f"call {number}, {watch.failed}: {error!r}")
        if prepared is not None and not watch.failed:
            importer.commit(import_id, prepared)
            after = load_totals(importer)
            return number - 1, wrong if after == {CUSTOMER: 5} else [*wrong, f"{after} at the end"]
        if load_totals(importer) != {CUSTOMER: Decimal(1)}:
            wrong.append(f"call {number}, {watch.failed}: the month before was changed")
        wrong += [f"call {number}: {name} lies in the lake" for name in _half(importer)]
    return CALLS_MAX, [*wrong, "there was no end of calls"]


def _half(importer: InProcessImporter) -> list[str]:
    """Files of the lake that are not whole; those no record names are left out of every reading."""
    lake = Path(importer.service.settings.lake_url) / importer.scope.organisation_id
    half = []
    for file in lake.rglob("*.parquet"):
        try:
            pq.read_table(file)
        except Exception:  # noqa: BLE001
            half.append(file.name)
    return half


@pytest.mark.parametrize("trouble", ERROR_CODES)
def test_every_file_call_may_fail(importer: InProcessImporter, trouble: str) -> None:
    calls, wrong = fail_each_call(importer, ERROR_CODES[trouble])

    assert wrong == []
    assert calls > 10  # or nothing was tried


@pytest.mark.parametrize("most", [1, 200, 2_000, 6_000, 12_000])
def test_a_disk_that_takes_no_more_leaves_nothing_half(
    importer: InProcessImporter, tmp_path: Path, most: int
) -> None:
    """Of the process itself: every write beyond so many bytes fails, in whatever language it is."""
    importer(write_report(tmp_path / "old.csv", [report_line("1")]))
    lines = [report_line("2", LineItemDescription=f"{number:x}" * 40) for number in range(2_000)]
    (tmp_path / "new.csv").write_bytes(build_report(lines))
    import_id = importer.start(tmp_path / "new.csv")
    asked: dict[str, object] = {
        "organisation_id": importer.scope.organisation_id,
        "import_id": import_id,
        "vendor": "aws",
        "month": None,
        "sources": [str(tmp_path / "new.csv")],
        "roots": None,
        "folder": str(tmp_path / "working"),
        "known_deliveries": {},
    }

    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error instead of a signal
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        [sys.executable, "-m", "nimbill.imports.preparation"],
        input=json.dumps(asked) + "\n",
        env=environment_for(importer.service.settings.data, {}),
        preexec_fn=small_disk,  # this test starts no threads
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0, done.stdout
    assert '"prepared"' not in done.stdout
    assert _half(importer) == []
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}
