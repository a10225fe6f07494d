"""A manifest decides which parts, month and version are imported."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.ingestion.parts import Limits
from tests.costs.inbox import (
    CSV_TEXT,
    NEW,
    OLD,
    OTHER_CSV_TEXT,
    PERIOD,
    Inbox,
    azure_manifest,
    cur2_manifest,
    legacy_manifest,
    part_names,
)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


# ── AWS, legacy reports ──────────────────────────────────────────────────────────────────────────


def put_aws_report(inbox: Inbox, top: str = "reports/") -> str:
    """Two versions of a report with their manifests, and a period manifest for the new one."""
    period = f"{top}cur/{PERIOD}"
    for version, content in ((OLD, CSV_TEXT), (NEW, OTHER_CSV_TEXT)):
        inbox.put(f"{period}/{version}/cur-1.csv.gz", gzip.compress(content))
        inbox.put(f"{period}/{version}/cur-2.csv.gz", gzip.compress(content + b"9,9\n"))
        manifest = legacy_manifest(version, "cur-1.csv.gz", "cur-2.csv.gz")
        inbox.put_json(f"{period}/{version}/cur-Manifest.json", manifest)
    inbox.put_json(
        f"{period}/cur-Manifest.json", legacy_manifest(NEW, "cur-1.csv.gz", "cur-2.csv.gz")
    )
    return period


@pytest.mark.parametrize("source", ["", "reports", "reports/cur", f"reports/cur/{PERIOD}"])
def test_the_period_manifest_decides_in_every_parent_folder(inbox: Inbox, source: str) -> None:
    put_aws_report(inbox)

    delivery = inbox.fetch(source)

    assert [part.path.parent.name for part in delivery.parts] == [NEW, NEW]
    assert [part.path.name for part in delivery.parts] == ["cur-1.csv.gz", "cur-2.csv.gz"]
    assert (delivery.assembly, delivery.month) == (NEW, "2026-09")
    assert (delivery.manifest or "").endswith(f"{'' if PERIOD in source else '/'}cur-Manifest.json")
    assert delivery.assembled_at is None
    assert inbox.notices[0] == "Ignoring 2 files that the manifest does not list"


def test_a_copy_of_the_bucket_may_be_in_a_deeper_folder(inbox: Inbox) -> None:
    put_aws_report(inbox, top="copies/of/bills/reports/")

    assert inbox.fetch().assembly == NEW


def test_parts_may_be_in_the_folder_of_the_manifest(inbox: Inbox) -> None:
    inbox.put_json("sept/cur-Manifest.json", legacy_manifest(NEW, "cur-2.csv", "cur-1.csv"))
    inbox.put("sept/cur-1.csv")
    inbox.put("sept/cur-2.csv", OTHER_CSV_TEXT)
    inbox.put("sept/cur-1-finalized.csv", b"a,b\n7,8\n")

    assert part_names(inbox.fetch()) == ["sept/cur-2.csv", "sept/cur-1.csv"]


def test_a_manifest_can_be_named_instead_of_its_folder(inbox: Inbox) -> None:
    period = put_aws_report(inbox)

    assert inbox.fetch(f"{period}/cur-Manifest.json").assembly == NEW
    assert inbox.fetch(f"{period}/{OLD}/cur-Manifest.json").assembly == OLD


def test_files_named_with_a_manifest_must_be_listed_in_it(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW, "cur-1.csv"))
    inbox.put("cur-1.csv")
    inbox.put("cur-9.csv", OTHER_CSV_TEXT)

    assert inbox.fetch("cur-Manifest.json", "cur-1.csv").assembly == NEW
    error = inbox.fetch_error("cur-Manifest.json", "cur-1.csv", "cur-9.csv")
    assert (error.file, error.rule) == ("cur-9.csv", "part_unlisted")
    assert inbox.fetch_error("cur-Manifest.json", "cur-9.csv").rule == "part_missing"


def test_a_missing_part_is_refused(inbox: Inbox) -> None:
    period = put_aws_report(inbox)
    (inbox.folder / period / NEW / "cur-2.csv.gz").unlink()

    error = inbox.fetch_error()

    assert error.rule == "part_missing"
    assert "cur-2.csv.gz" in error.detail


def test_a_part_of_an_older_version_is_not_used_for_a_newer_one(inbox: Inbox) -> None:
    """Parts with the right names exist, but only in the folder of the old version."""
    period = put_aws_report(inbox)
    for name in ("cur-1.csv.gz", "cur-2.csv.gz"):
        (inbox.folder / period / NEW / name).unlink()

    assert inbox.fetch_error().rule == "part_missing"


def test_an_entry_that_matches_two_files_is_refused(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW, "cur-1.csv"))
    inbox.put(f"a/reports/cur/{PERIOD}/{NEW}/cur-1.csv")
    inbox.put(f"b/reports/cur/{PERIOD}/{NEW}/cur-1.csv", OTHER_CSV_TEXT)

    assert inbox.fetch_error().rule == "part_ambiguous"


def test_a_part_listed_twice_is_refused(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW, "cur-1.csv", "cur-1.csv"))
    inbox.put("cur-1.csv")

    assert inbox.fetch_error().rule == "same_part_twice"


def test_a_manifest_may_list_parts_with_the_same_content(inbox: Inbox) -> None:
    """Two identical lines are two charges."""
    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW, "cur-1.csv", "cur-2.csv"))
    inbox.put("cur-1.csv")
    inbox.put("cur-2.csv")

    assert len(inbox.fetch().parts) == 2


def test_versions_without_times_and_period_manifest_are_refused(inbox: Inbox) -> None:
    period = put_aws_report(inbox)
    (inbox.folder / period / "cur-Manifest.json").unlink()

    error = inbox.fetch_error()

    assert error.rule == "several_assemblies"
    assert OLD in error.detail


def test_versions_named_by_their_time_are_ordered_by_it(inbox: Inbox) -> None:
    older, newer = "20261003T101500Z", "20261004T091500Z"
    for version, content in ((newer, OTHER_CSV_TEXT), (older, CSV_TEXT)):
        inbox.put(f"{PERIOD}/{version}/cur-1.csv", content)
        inbox.put_json(
            f"{PERIOD}/{version}/cur-Manifest.json", legacy_manifest(version, "cur-1.csv")
        )

    delivery = inbox.fetch()

    assert delivery.assembly == newer
    assert delivery.assembled_at == datetime(2026, 10, 4, 9, 15, tzinfo=UTC)


def test_the_requested_month_is_selected(inbox: Inbox) -> None:
    for month, period in (("202608", "20260801-20260901"), ("202609", PERIOD)):
        inbox.put(f"{period}/{NEW}/cur-1.csv", month.encode())
        inbox.put_json(
            f"{period}/cur-Manifest.json", legacy_manifest(NEW, "cur-1.csv", month=month)
        )

    assert inbox.fetch(month="2026-08").month == "2026-08"
    assert inbox.fetch_error().rule == "several_months"
    error = inbox.fetch_error(f"{PERIOD}", month="2026-08")
    assert (error.rule, "2026-09" in error.detail) == ("month_absent", True)


def test_several_reports_of_a_month_are_refused(inbox: Inbox) -> None:
    for name in ("daily", "hourly"):
        inbox.put(f"{name}/cur-1.csv", name.encode())
        manifest = legacy_manifest(NEW, "cur-1.csv", reportName=name)
        inbox.put_json(f"{name}/cur-Manifest.json", manifest)

    assert inbox.fetch_error().rule == "several_reports"
    assert inbox.fetch("daily").parts[0].bytes == len("daily")
    assert inbox.fetch_error("daily", "hourly").rule == "several_reports"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"reportKeys": 3}',
        b'{"reportKeys": [3]}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"\xff\xfe{\x00",
        b'{"blobs": [{"byteCount": 1}]}',
        b'{"blobs": [{"blobName": "a.csv", "byteCount": 1e400}]}',
    ],
)
def test_an_invalid_manifest_is_refused(inbox: Inbox, content: bytes) -> None:
    inbox.put("cur-Manifest.json", content)
    inbox.put("a.csv")

    assert inbox.fetch_error().rule == "manifest"


def test_an_empty_manifest_is_refused(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW))

    assert inbox.fetch_error().rule == "no_parts"


@pytest.mark.parametrize("name", ["cur-Manifest.json", "cur-Manifest.json.gz"])
def test_a_manifest_that_is_too_large_is_refused(inbox: Inbox, name: str) -> None:
    inbox.put_json(name, legacy_manifest(NEW, *(f"cur-{number}.csv" for number in range(1000))))

    assert inbox.fetch_error(limits=Limits(manifest_bytes_max=9_999)).rule == "too_large"
    assert inbox.fetch_error(limits=Limits(parts_max=999)).rule == "too_many_parts"


@pytest.mark.parametrize(
    "key",
    ["../../etc/passwd", "/etc/passwd", "..", "", "/", "s3://bills", "C:\\a.csv", "a\0b.csv", "."],
)
def test_keys_cannot_leave_the_source(inbox: Inbox, key: str) -> None:
    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW, reportKeys=[key]))
    inbox.put("a.csv")

    assert inbox.fetch_error().rule == "part_missing"


# ── AWS CUR 2.0 ──────────────────────────────────────────────────────────────────────────────────


def test_cur2_manifests_are_found_in_the_metadata_folder(inbox: Inbox) -> None:
    for month in ("2026-08", "2026-09"):
        inbox.put(f"cur/data/BILLING_PERIOD={month}/cur-00001.csv.gz", month.encode())
        folder = f"cur/metadata/BILLING_PERIOD={month}"
        inbox.put_json(
            f"{folder}/cur-Manifest.json", cur2_manifest("cur-00001.csv.gz", month=month)
        )

    delivery = inbox.fetch(month="2026-08")
    assert part_names(delivery) == ["cur/data/BILLING_PERIOD=2026-08/cur-00001.csv.gz"]
    assert (delivery.month, delivery.assembly) == ("2026-08", "exec-1")

    delivery = inbox.fetch("cur/metadata/BILLING_PERIOD=2026-09/cur-Manifest.json")
    assert delivery.month == "2026-09"


def test_cur2_runs_are_ordered_by_their_times(inbox: Inbox) -> None:
    runs = [f"2026-10-0{day}T10:15:00.000Z-{NEW}" for day in (3, 4)]
    for run in runs:
        inbox.put(f"cur/data/BILLING_PERIOD=2026-09/{run}/cur-1.csv", run.encode())
        folder = f"cur/metadata/BILLING_PERIOD=2026-09/{run}"
        inbox.put_json(f"{folder}/cur-Manifest.json", cur2_manifest("cur-1.csv", run=run))

    delivery = inbox.fetch()

    assert delivery.assembly == runs[1]
    assert delivery.assembled_at == datetime(2026, 10, 4, 10, 15, tzinfo=UTC)


# ── Azure ────────────────────────────────────────────────────────────────────────────────────────


def put_azure_run(inbox: Inbox, run: str, content: bytes = CSV_TEXT, **fields: Any) -> str:
    folder = f"exports/actual/20260901-20260930/{run}"
    inbox.put(f"{folder}/part_0_0001.csv", content)
    inbox.put_json(
        f"{folder}/manifest.json", azure_manifest(run, ("part_0_0001.csv", len(content)), **fields)
    )
    return folder


def test_the_newest_run_of_an_export_is_imported(inbox: Inbox) -> None:
    put_azure_run(inbox, NEW, OTHER_CSV_TEXT, submitted="2026-10-03T04:05:07.0000001Z")
    put_azure_run(inbox, OLD, submitted="2026-10-03T04:05:06.9999999Z")

    delivery = inbox.fetch()

    assert (delivery.assembly, delivery.month) == (NEW, "2026-09")
    assert delivery.assembled_at == datetime(2026, 10, 3, 4, 5, 7, tzinfo=UTC)


def test_a_part_whose_size_differs_from_the_manifest_is_refused(inbox: Inbox) -> None:
    folder = put_azure_run(inbox, NEW)
    inbox.put(f"{folder}/part_0_0001.csv", CSV_TEXT + b"5,6\n")

    error = inbox.fetch_error()

    assert error.rule == "part_size"
    assert (error.file, error.detail) == (
        f"{folder}/part_0_0001.csv",
        "It has 12 bytes; the manifest says 8.",
    )


def test_row_counts_of_the_manifest_are_kept_for_the_conversion(inbox: Inbox) -> None:
    manifest = azure_manifest(NEW, ("a.csv", len(CSV_TEXT)))
    manifest["blobs"][0]["dataRowCount"] = 7
    inbox.put_json("manifest.json", manifest)
    inbox.put("a.csv")

    assert inbox.fetch().parts[0].rows == 7


@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.gz"])
def test_the_month_of_an_old_manifest_is_in_its_folder_name(inbox: Inbox, name: str) -> None:
    blob = {"blobName": "exports/actual/20260901-20260930/a.csv", "byteCount": len(CSV_TEXT)}
    inbox.put_json(f"20260901-20260930/{name}", {"blobs": [blob]})
    inbox.put("20260901-20260930/a.csv")

    delivery = inbox.fetch()

    assert (delivery.month, delivery.assembly) == ("2026-09", None)


def test_an_amortised_export_is_refused_or_ignored_beside_the_actual_one(
    inbox: Inbox,
) -> None:
    amortised = {"exportName": "amortised", "type": "AmortizedCost"}
    put_azure_run(inbox, OLD, exportConfig=amortised)

    assert inbox.fetch_error().rule == "amortised"

    put_azure_run(inbox, NEW, OTHER_CSV_TEXT)
    assert inbox.fetch().assembly == NEW


def test_exports_without_costs_are_refused(inbox: Inbox) -> None:
    put_azure_run(inbox, NEW, exportConfig={"exportName": "prices", "type": "PriceSheet"})

    assert inbox.fetch_error().rule == "not_costs"


def test_a_manifest_with_a_wrong_blob_count_is_refused(inbox: Inbox) -> None:
    put_azure_run(inbox, NEW, blobCount=2)

    assert inbox.fetch_error().rule == "manifest"


@pytest.mark.parametrize(
    ("start", "end", "month"),
    [
        ("2026-09-01T00:00:00", "2026-09-14T00:00:00", "2026-09"),
        ("2026-09-01T00:00:00", "2026-10-01T00:00:00", "2026-09"),
        ("2026-08-01T00:00:00", "2026-09-30T00:00:00", None),
        ("2026-13-01", "2026-13-30", None),
        ("soon", "later", None),
    ],
)
def test_the_month_of_a_run_is_the_month_it_covers(
    inbox: Inbox, start: str, end: str, month: str | None
) -> None:
    run = {"runId": NEW, "startDate": start, "endDate": end}
    put_azure_run(inbox, NEW, runInfo=run)

    assert inbox.fetch().month == month
