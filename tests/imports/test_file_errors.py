"""If any file call of an import fails, nothing is changed, and the next attempt succeeds."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq

from tests.imports.aws_reports import CUSTOMER, build_report, report_line, write_report
from tests.imports.failing_file_calls import ERROR_CODES, fail_call
from tests.imports.in_process_importer import InProcessImporter, load_totals
from tests.proof.real_server import environment_for

CALLS_MAX = 200
FILE_SIZE_LIMITS = (1, 200, 2_000, 6_000, 12_000)
SUFFICIENT_LIMIT = 10**9

# Loads the modules once and forks for each limit, because starting Python takes seconds. The
# requests come as JSON lines of limit and request.
FORK_FOR_EACH_LIMIT = """
import io, json, os, resource, signal, sys
from nimbill.costs.ingestion.pandas_block import block_pandas
block_pandas()
from nimbill.costs.ingestion import conversion, delivery, second_reading
from nimbill.costs.lake.engines import duckdb
from nimbill.imports import preparation

def run(limit, request, output):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error instead of a signal
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    os.dup2(output, 1)
    sys.stdin = io.StringIO(json.dumps(request) + chr(10))
    preparation.main()

for line in sys.stdin.readlines():
    limit, request = json.loads(line)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run(limit, request, writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as output:
        text = output.read()
    _, status = os.waitpid(child, 0)
    print(json.dumps([limit, os.waitstatus_to_exitcode(status), text]), flush=True)
"""


def fail_each_call(importer: InProcessImporter, code: int) -> tuple[int, list[str]]:
    """Let the first call fail, then the second, until there are no more calls.

    Returns the number of calls and descriptions of everything that was wrong.
    """
    importer(write_report(importer.folder / "old.csv", [report_line("1")]))
    new = write_report(importer.folder / "new.csv", [report_line("2"), report_line("3")])
    wrong: list[str] = []
    for number in range(1, CALLS_MAX):
        import_id = importer.start(new)
        prepared = None
        with fail_call(importer.service.settings.data, number, code) as watch:
            try:
                prepared = importer.prepare(import_id)
            except OSError:
                pass
            except Exception as error:  # noqa: BLE001  # any other error is wrong
                wrong.append(f"call {number}, {watch.failed}: {error!r}")
        if prepared is not None and not watch.failed:
            importer.commit(import_id, prepared)
            totals = load_totals(importer)
            wrong += [] if totals == {CUSTOMER: 5} else [f"{totals} at the end"]
            return number - 1, wrong
        if load_totals(importer) != {CUSTOMER: Decimal(1)}:
            wrong.append(f"call {number}, {watch.failed}: the existing month was changed")
        wrong += [f"call {number}: {name} is incomplete" for name in _list_partial_files(importer)]
    return CALLS_MAX, [*wrong, "there was no end of calls"]


def _list_partial_files(importer: InProcessImporter) -> list[str]:
    """Return unreadable files of the lake, also those that no record names."""
    lake = Path(importer.service.settings.lake_url) / importer.scope.organisation_id
    partial = []
    for file in lake.rglob("*.parquet"):
        try:
            pq.read_table(file)
        except Exception:  # noqa: BLE001
            partial.append(file.name)
    return partial


def test_any_file_call_may_fail(importer: InProcessImporter) -> None:
    """Takes several seconds for some thirty imports. Proof row X9 repeats it with all errors."""
    calls, wrong = fail_each_call(importer, ERROR_CODES["disk full"])

    assert wrong == []
    assert calls > 10


def test_a_file_size_limit_leaves_no_partial_files(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """The limit applies to the whole process, including writes of Arrow and DuckDB."""
    importer(write_report(tmp_path / "old.csv", [report_line("1")]))
    lines = [report_line("2", LineItemDescription=f"{number:x}" * 40) for number in range(2_000)]
    (tmp_path / "new.csv").write_bytes(build_report(lines))
    requests = []
    for limit in (*FILE_SIZE_LIMITS, SUFFICIENT_LIMIT):
        request = importer.build_request(importer.start(tmp_path / "new.csv"))
        request = replace(request, folder=str(tmp_path / f"working-{limit}"), known_deliveries={})
        requests.append(json.dumps([limit, asdict(request)]))

    process = subprocess.run(
        [sys.executable, "-c", FORK_FOR_EACH_LIMIT],
        input="\n".join(requests) + "\n",
        env=environment_for(importer.service.settings.data, {}),
        capture_output=True,
        text=True,
        check=True,
    )

    *failed, succeeded = (json.loads(line) for line in process.stdout.splitlines())
    assert [limit for limit, _, _ in failed] == list(FILE_SIZE_LIMITS)
    assert all(code != 0 for _, code, _ in failed), failed
    assert all('"prepared"' not in output for _, _, output in failed)
    limit, code, output = succeeded
    assert (limit, code) == (SUFFICIENT_LIMIT, 0)
    assert '"prepared"' in output
    assert _list_partial_files(importer) == []
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}
