"""Deliveries that arrive at the same time: each counts once, and an older one never wins."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.ingestion import conversion
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.normalize import NormalizedBatch, normalize
from nimbill.database.tenant_scope import TenantScope
from nimbill.imports import job_types, records
from nimbill.imports.commit_import import commit_import, fail_import
from nimbill.imports.preparation import PreparedImport
from nimbill.imports.preparation_process import working_folder
from nimbill.jobs.runner import Job
from tests.held_locks import InTransaction, call_while_locked, in_transaction
from tests.imports.aws_reports import CUSTOMER, MONTH, report_line, write_report
from tests.imports.in_process_importer import InProcessImporter, load_totals, wait_for_import

OTHER_PAYER, OTHER_CUSTOMER = "999999999999", "333333333333"
CLIENTS = 20
CONNECTIONS = 8  # at the same time; more would wait for the pool of the service
EARLIER, LATER = "2026-10-01T06:00:00+00:00", "2026-10-02T06:00:00+00:00"


def prepare(
    importer: InProcessImporter, name: str, *lines: dict[str, str], assembled_at: str | None = None
) -> tuple[str, PreparedImport]:
    import_id = importer.start(write_report(importer.folder / name, lines))
    prepared = importer.prepare(import_id)
    prepared.assembled_at = assembled_at
    return import_id, prepared


def copy_import(
    importer: InProcessImporter, import_id: str, prepared: PreparedImport
) -> tuple[str, PreparedImport]:
    """Another import with the same result, because reading the file twenty times takes long."""
    settings, copy_id = importer.service.settings, importer.start(importer.folder / "a.csv")
    shutil.copytree(working_folder(settings, import_id), working_folder(settings, copy_id))
    return copy_id, replace(prepared, files=[])


def park(importer: InProcessImporter, name: str, *lines: dict[str, str], **options: Any) -> str:
    import_id, prepared = prepare(importer, name, *lines, **options)
    prepared.unverified_file = name
    importer.commit(import_id, prepared)
    assert importer.get_record(import_id)["state"] == "parked"
    return import_id


def release(importer: InProcessImporter, import_id: str) -> dict[str, Any]:
    path = f"/m/core/costs/imports/{import_id}/release"
    answer = importer.service.http.post(path, json={"reason": "ok"}, headers=importer.headers)
    assert answer.status_code == 202, answer.text
    return wait_for_import(importer.service, import_id, importer.headers)


def build_job(importer: InProcessImporter, import_id: str) -> Job:
    return Job(
        scope=importer.scope,
        job_id="job_one",
        job_type=records.IMPORT_COSTS,
        subject=import_id,
        payload={"sources": [], "roots": []},
        progress={},
        attempt=job_types.ATTEMPTS_MAX,
    )


def count_parked(importer: InProcessImporter) -> int:
    return int(importer.query("SELECT count(*) AS n FROM parked_months")[0].n)


# ── the same delivery ────────────────────────────────────────────────────────────────────────────


def test_the_same_delivery_sent_by_twenty_clients_counts_once(importer: InProcessImporter) -> None:
    """All of them are read before the first one is committed."""
    first = prepare(importer, "a.csv", report_line("1"))
    imports = [first, *(copy_import(importer, *first) for _ in range(CLIENTS - 1))]

    with ThreadPoolExecutor(CONNECTIONS) as clients:
        list(clients.map(lambda each: importer.commit(*each), imports))

    results = [importer.get_record(import_id) for import_id, _ in imports]
    (counting,) = [record for record in results if record["state"] == "done"]
    others = [record for record in results if record is not counting]
    assert {record["state"] for record in others} == {"unchanged"}
    assert {record["identical_import"] for record in others} == {counting["import_id"]}
    assert counting["identical_import"] is None
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}
    # copies have no files: if one of them counts, there are none
    stored = {row[0] for row in importer.query("SELECT import_id FROM lake_files")}
    assert stored <= {counting["import_id"]}


def test_a_repeated_delivery_names_the_import_that_counts(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    first = importer(write_report(tmp_path / "a.csv", [report_line("1")]))

    again = importer(tmp_path / "a.csv")

    assert (again["state"], again["identical_import"]) == ("unchanged", first["import_id"])


def test_a_copy_of_a_delivery_that_was_replaced_meanwhile_does_not_return(
    importer: InProcessImporter,
) -> None:
    """The copy was read while the first was current, and is committed after its successor."""
    first = prepare(importer, "a.csv", report_line("1"))
    copy = prepare(importer, "a.csv", report_line("1"))
    importer.commit(*first)
    importer.commit(*prepare(importer, "b.csv", report_line("2")))

    importer.commit(*copy)

    record = importer.get_record(copy[0])
    assert (record["state"], record["problem"]["code"]) == ("refused", "older_assembly")
    assert load_totals(importer) == {CUSTOMER: Decimal(2)}


def test_a_copy_does_not_return_the_costs_of_one_of_its_payers(
    importer: InProcessImporter,
) -> None:
    lines = [
        report_line("1"),
        report_line("5", PayerAccountId=OTHER_PAYER, UsageAccountId=OTHER_CUSTOMER),
    ]
    first, copy = prepare(importer, "a.csv", *lines), prepare(importer, "a.csv", *lines)
    importer.commit(*first)
    importer.commit(*prepare(importer, "b.csv", report_line("2")))

    importer.commit(*copy)

    record = importer.get_record(copy[0])
    assert (record["state"], record["identical_import"]) == ("unchanged", first[0])
    assert load_totals(importer) == {CUSTOMER: Decimal(2), OTHER_CUSTOMER: Decimal(5)}


# ── older and newer assemblies ───────────────────────────────────────────────────────────────────


def test_an_older_assembly_does_not_replace_a_newer_one_that_is_being_committed(
    importer: InProcessImporter,
) -> None:
    older = prepare(importer, "a.csv", report_line("1"), assembled_at=EARLIER)
    newer = prepare(importer, "b.csv", report_line("2"), assembled_at=LATER)

    outcome = call_while_locked(
        importer.service, _commit(importer, *newer), lambda: importer.commit(*older)
    )

    assert outcome.waited
    refused = importer.get_record(older[0])
    assert (refused["state"], refused["problem"]["code"]) == ("refused", "older_assembly")
    assert load_totals(importer) == {CUSTOMER: Decimal(2)}


def test_a_newer_assembly_replaces_an_older_one_that_is_being_committed(
    importer: InProcessImporter,
) -> None:
    older = prepare(importer, "a.csv", report_line("1"), assembled_at=EARLIER)
    newer = prepare(importer, "b.csv", report_line("2"), assembled_at=LATER)

    outcome = call_while_locked(
        importer.service, _commit(importer, *older), lambda: importer.commit(*newer)
    )

    assert outcome.waited
    assert importer.get_record(newer[0])["state"] == "done"
    assert load_totals(importer) == {CUSTOMER: Decimal(2)}


def _commit(importer: InProcessImporter, import_id: str, prepared: PreparedImport) -> InTransaction:
    """Commit in the transaction that holds the locks."""
    settings = importer.service.settings
    return lambda db, scope: commit_import(db, settings, scope, import_id, prepared)


@pytest.mark.usefixtures("preparation_in_thread")
def test_an_older_assembly_does_not_replace_a_newer_one_that_is_parked(
    importer: InProcessImporter,
) -> None:
    newer = park(importer, "b.csv", report_line("2"), assembled_at=LATER)

    importer.commit(*prepare(importer, "a.csv", report_line("1"), assembled_at=EARLIER))

    assert load_totals(importer) == {CUSTOMER: Decimal(1)}
    assert importer.get_record(newer)["state"] == "parked"
    assert release(importer, newer)["state"] == "done"
    assert load_totals(importer) == {CUSTOMER: Decimal(2)}
    assert count_parked(importer) == 0


@pytest.mark.usefixtures("preparation_in_thread")
def test_releasing_an_older_assembly_after_a_newer_one_frees_the_month(
    importer: InProcessImporter,
) -> None:
    """A parked import of two payers is not replaced by an import of one of them."""
    both = [report_line("1"), report_line("5", PayerAccountId=OTHER_PAYER)]
    older = park(importer, "a.csv", *both, assembled_at=EARLIER)
    importer.commit(*prepare(importer, "b.csv", report_line("2"), assembled_at=LATER))
    assert count_parked(importer) == 1

    record = release(importer, older)

    assert (record["state"], record["problem"]["code"]) == ("refused", "older_assembly")
    assert load_totals(importer) == {CUSTOMER: Decimal(2)}
    assert count_parked(importer) == 0


# ── parked months ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("preparation_in_thread")
def test_a_month_parked_for_two_payers_needs_both_releases(importer: InProcessImporter) -> None:
    first = park(importer, "a.csv", report_line("1"))
    other = park(
        importer,
        "b.csv",
        report_line("5", PayerAccountId=OTHER_PAYER, UsageAccountId=OTHER_CUSTOMER),
    )
    assert count_parked(importer) == 2

    assert release(importer, first)["state"] == "done"
    assert count_parked(importer) == 1
    assert importer.get_costs()["parked"] is True

    assert release(importer, other)["state"] == "done"
    assert count_parked(importer) == 0
    assert importer.get_costs()["parked"] is False
    assert load_totals(importer) == {CUSTOMER: Decimal(1), OTHER_CUSTOMER: Decimal(5)}


def lose_lines(*args: Any, **options: Any) -> NormalizedBatch:
    return NormalizedBatch(normalize(*args, **options).lines.slice(0, 0), ImportWarnings())


def park_without_lines(importer: InProcessImporter) -> str:
    """The second reading finds a line of PAYER that the first one lost."""
    source = write_report(importer.folder / "lost.csv", [report_line("1")])
    with patch.object(conversion, "normalize", lose_lines):
        import_id: str = importer(source, month=MONTH)["import_id"]
    assert importer.get_record(import_id)["state"] == "parked"
    return import_id


def test_a_month_parked_without_lines_is_not_freed_by_another_payer(
    importer: InProcessImporter,
) -> None:
    parked = park_without_lines(importer)

    importer.commit(*prepare(importer, "b.csv", report_line("5", PayerAccountId=OTHER_PAYER)))

    assert importer.get_record(parked)["state"] == "parked"
    assert count_parked(importer) == 1

    importer.commit(*prepare(importer, "c.csv", report_line("1")))

    assert importer.get_record(parked)["problem"]["code"] == "superseded"
    assert count_parked(importer) == 0


@pytest.mark.usefixtures("preparation_in_thread")
def test_releasing_an_import_without_lines_frees_the_month(importer: InProcessImporter) -> None:
    parked = park_without_lines(importer)

    with patch.object(conversion, "normalize", lose_lines):
        record = release(importer, parked)

    assert (record["state"], record["lines"]) == ("done", 0)
    assert count_parked(importer) == 0


@pytest.mark.usefixtures("preparation_in_thread")
def test_a_release_that_fails_leaves_the_import_parked(importer: InProcessImporter) -> None:
    parked = park(importer, "a.csv", report_line("1"))
    job = build_job(importer, parked)
    (import_type, *_) = job_types.import_job_types(
        importer.service.settings, importer.service.resources.engine
    )

    async def fail(db: AsyncConnection, scope: TenantScope) -> None:
        await records.change_import(db, scope, parked, state="running", release_reason="ok")
        assert import_type.on_failure is not None
        await import_type.on_failure(db, job)

    in_transaction(importer.service, fail)()

    record = importer.get_record(parked)
    assert (record["state"], record["release_reason"]) == ("parked", None)
    assert release(importer, parked)["state"] == "done"
    assert count_parked(importer) == 0


# ── the lock of an import ────────────────────────────────────────────────────────────────────────


def lock_import(import_id: str) -> InTransaction:
    return lambda db, scope: records.lock_import(db, scope, import_id)


def test_committing_sees_that_the_import_was_released_meanwhile(
    importer: InProcessImporter,
) -> None:
    import_id, prepared = prepare(importer, "a.csv", report_line("1"))
    prepared.unverified_file = "a.csv"  # parks the import unless it is released

    async def release_import(db: AsyncConnection, scope: TenantScope) -> None:
        await records.change_import(db, scope, import_id, release_reason="ok")

    outcome = call_while_locked(
        importer.service,
        lock_import(import_id),
        lambda: importer.commit(import_id, prepared),
        change=release_import,
    )

    assert outcome.waited
    assert importer.get_record(import_id)["state"] == "done"


def test_an_import_that_is_released_meanwhile_does_not_fail(importer: InProcessImporter) -> None:
    """Its files have a record, so that it can be released again."""
    import_id = importer.start(importer.folder / "a.csv")

    async def release_import(db: AsyncConnection, scope: TenantScope) -> None:
        await records.change_import(db, scope, import_id, release_reason="ok")

    outcome = call_while_locked(
        importer.service,
        release_import,
        in_transaction(
            importer.service, lambda db, scope: fail_import(db, scope, import_id, {"code": "x"})
        ),
    )

    assert outcome.waited
    assert importer.get_record(import_id)["state"] == "parked"


def test_an_import_is_released_once(importer: InProcessImporter) -> None:
    """The second release waits for the first one and finds that nothing is parked."""
    parked = park(importer, "a.csv", report_line("1"))

    async def release_first(db: AsyncConnection, scope: TenantScope) -> None:
        await records.change_import(db, scope, parked, state="waiting", release_reason="first")

    outcome = call_while_locked(
        importer.service,
        lock_import(parked),
        lambda: importer.service.http.post(
            f"/m/core/costs/imports/{parked}/release",
            json={"reason": "second"},
            headers=importer.headers,
        ),
        change=release_first,
    )

    assert outcome.waited
    assert (outcome.result.status_code, outcome.result.json()["code"]) == (409, "not_parked")
    assert importer.get_record(parked)["release_reason"] == "first"


def test_a_job_reads_its_import_after_another_change_of_it(importer: InProcessImporter) -> None:
    parked = park(importer, "a.csv", report_line("1"))
    job = build_job(importer, parked)

    async def release_import(db: AsyncConnection, scope: TenantScope) -> None:
        await records.change_import(db, scope, parked, state="waiting", release_reason="ok")

    outcome = call_while_locked(
        importer.service,
        lock_import(parked),
        in_transaction(
            importer.service,
            lambda db, _: job_types._build_request(db, importer.service.settings, job),
        ),
        change=release_import,
    )

    assert outcome.waited
    assert len(outcome.result.lake_files) == 1, "the request is that of a released import"
