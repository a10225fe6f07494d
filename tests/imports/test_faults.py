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

from tests.imports.failing_files import TROUBLES, failing_at
from tests.imports.small_files import CUSTOMER, cost, report, write
from tests.imports.taking import Taking, totals
from tests.proof.real_server import environment_for

CALLS_MAX = 200


def faults(taking: Taking, code: int) -> tuple[int, list[str]]:
    """The first call fails, then the second, until none is left; how many, and what went wrong."""
    taking(write(taking.folder / "old.csv", [cost("1")]))
    new, wrong = write(taking.folder / "new.csv", [cost("2"), cost("3")]), list[str]()
    for number in range(1, CALLS_MAX):
        import_id = taking.start(new)
        prepared = None
        with failing_at(taking.service.settings.data, number, code) as watch:
            try:
                prepared = taking.prepare(import_id)
            except OSError:
                pass
            except Exception as error:  # noqa: BLE001  # any other is a finding
                wrong.append(f"call {number}, {watch.failed}: {error!r}")
        if prepared is not None and not watch.failed:
            taking.settle(import_id, prepared)
            after = totals(taking)
            return number - 1, wrong if after == {CUSTOMER: 5} else [*wrong, f"{after} at the end"]
        if totals(taking) != {CUSTOMER: Decimal(1)}:
            wrong.append(f"call {number}, {watch.failed}: the month before was changed")
        wrong += [f"call {number}: {name} lies in the lake" for name in _half(taking)]
    return CALLS_MAX, [*wrong, "there was no end of calls"]


def _half(taking: Taking) -> list[str]:
    """Files of the lake that are not whole; those no record names are left out of every reading."""
    lake = Path(taking.service.settings.lake_url) / taking.scope.organisation_id
    half = []
    for file in lake.rglob("*.parquet"):
        try:
            pq.read_table(file)
        except Exception:  # noqa: BLE001
            half.append(file.name)
    return half


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_file_call_may_fail(taking: Taking, trouble: str) -> None:
    calls, wrong = faults(taking, TROUBLES[trouble])

    assert wrong == []
    assert calls > 10  # or nothing was tried


@pytest.mark.parametrize("most", [1, 200, 2_000, 6_000, 12_000])
def test_a_disk_that_takes_no_more_leaves_nothing_half(
    taking: Taking, tmp_path: Path, most: int
) -> None:
    """Of the process itself: every write beyond so many bytes fails, in whatever language it is."""
    taking(write(tmp_path / "old.csv", [cost("1")]))
    lines = [cost("2", LineItemDescription=f"{number:x}" * 40) for number in range(2_000)]
    (tmp_path / "new.csv").write_bytes(report(lines))
    import_id = taking.start(tmp_path / "new.csv")
    asked: dict[str, object] = {
        "organisation_id": taking.scope.organisation_id,
        "import_id": import_id,
        "vendor": "aws",
        "month": None,
        "sources": [str(tmp_path / "new.csv")],
        "roots": None,
        "folder": str(tmp_path / "working"),
        "known": {},
    }

    def small_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error instead of a signal
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        [sys.executable, "-m", "nimbill.imports.preparation"],
        input=json.dumps(asked) + "\n",
        env=environment_for(taking.service.settings.data, {}),
        preexec_fn=small_disk,  # this test starts no threads
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0, done.stdout
    assert '"prepared"' not in done.stdout
    assert _half(taking) == []
    assert totals(taking) == {CUSTOMER: Decimal(1)}
