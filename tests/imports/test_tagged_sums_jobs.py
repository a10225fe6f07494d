"""Stored months are summed by other tag keys when the setting report_tag_keys changes."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nimbill.database.tenant_scope import transaction
from nimbill.imports import job_types
from nimbill.imports.preparation import PreparedImport, prepare_import
from nimbill.imports.tagged_sums_jobs import PreparedTags, SummedFiles, commit_tagged_sums
from nimbill.jobs.runner import Job
from tests.imports.aws_reports import CUSTOMER, PAYER, report_line, write_report
from tests.imports.in_process_importer import InProcessImporter

OTHER_PAYER = "999999999999"
SECONDS_MAX = 60


def list_sums(importer: InProcessImporter) -> list[tuple[Any, ...]]:
    rows = importer.query(
        "SELECT payer_id, tags ->> 'Team' AS team, sum(cost) AS cost FROM cost_tagged_sums "
        "GROUP BY 1, 2 ORDER BY 1, 2 NULLS LAST"
    )
    return [tuple(row) for row in rows]


def wait_for_keys(importer: InProcessImporter, *keys: str) -> None:
    """Wait until every stored month has sums with these keys."""
    deadline = time.monotonic() + SECONDS_MAX
    while {tuple(row.tag_keys) for row in importer.query("SELECT tag_keys FROM cost_months")} != {
        keys
    }:
        assert time.monotonic() < deadline, importer.query("SELECT kind, state, reason FROM jobs")
        time.sleep(0.05)


@pytest.mark.usefixtures("preparation_in_thread")
def test_a_changed_setting_applies_to_months_that_are_already_stored(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    own = [report_line("1", Team="red"), report_line("2", Team="red"), report_line("4")]
    replaced = [report_line("8", PayerAccountId=OTHER_PAYER)]
    current = [report_line("16", Team="blue", PayerAccountId=OTHER_PAYER)]
    importer(write_report(tmp_path / "a.csv", own + replaced))
    importer(write_report(tmp_path / "b.csv", current))
    assert list_sums(importer) == []

    importer.set_report_tag_keys("Team", "Stage")
    wait_for_keys(importer, "Team", "Stage")

    assert list_sums(importer) == [
        (PAYER, "red", 3),
        (PAYER, None, 4),
        (OTHER_PAYER, "blue", 16),  # not the lines of the import that was replaced
    ]

    importer.set_report_tag_keys()
    wait_for_keys(importer)

    assert list_sums(importer) == []
    costs = importer.get_costs()
    assert {row["customer_id"]: Decimal(row["cost"]) for row in costs["rows"]} == {CUSTOMER: 23}


def test_a_repeated_job_uses_the_folder_of_its_first_attempt(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """The process can be killed between creating the folder and the end of the job."""
    folder = tmp_path / "working" / "job"
    record = importer(write_report(tmp_path / "a.csv", [report_line("1", Team="red")]))
    files = [row.path for row in importer.query("SELECT path FROM lake_files")]
    request = replace(
        importer.build_request(record["import_id"]),
        folder=str(folder),
        lake_files=files,
        tag_keys=["Team"],
        tagged_sums_only=True,
    )

    with patch.dict(os.environ, importer.service.settings.to_child_environment()):
        attempts = [prepare_import(request, lambda _: None) for _ in range(2)]

    assert [prepared.tag_keys for prepared in attempts] == [["Team"], ["Team"]]
    assert (folder / "tagged_sums.parquet").is_file()


def test_sums_of_files_that_no_longer_count_are_not_stored(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer.set_report_tag_keys("Team")
    importer(write_report(tmp_path / "a.csv", [report_line("1", Team="red")]))
    job = Job(
        scope=importer.scope,
        job_id="job",
        job_type="store_tagged_sums",
        subject="job",
        payload={"vendor": "aws", "month": "2026-09"},
        progress={},
        attempt=1,
        prepared=PreparedTags(
            keys=[], files=[], summed=[SummedFiles(frozenset({PAYER}), [], tmp_path)]
        ),
    )

    async def commit() -> None:
        async with transaction(importer.service.resources.engine, job.scope.organisation_id) as db:
            await commit_tagged_sums(db, job)

    importer.service.run(commit)

    assert list_sums(importer) == [(PAYER, "red", 1)]
    assert importer.query("SELECT tag_keys FROM cost_months")[0].tag_keys == ["Team"]


@pytest.mark.parametrize(
    ("prepared", "count"),
    [
        (PreparedImport(payers={PAYER: 1}, tag_keys=["Old"]), 1),
        (PreparedImport(payers={PAYER: 1}, tag_keys=[]), 0),
        (PreparedImport(problem={"status": 400}, tag_keys=["Old"]), 0),  # nothing was stored
    ],
)
def test_an_import_prepared_before_the_setting_changed_is_summed_again(
    importer: InProcessImporter, prepared: PreparedImport, count: int
) -> None:
    job = Job(importer.scope, "job", "import_costs", "imp", {}, {}, 1, prepared)

    async def check() -> None:
        async with transaction(importer.service.resources.engine, job.scope.organisation_id) as db:
            await job_types._check_tag_keys(db, job)

    importer.service.run(check)

    jobs = importer.query("SELECT kind FROM jobs WHERE kind = 'find_stale_tagged_sums'")
    assert len(jobs) == count
