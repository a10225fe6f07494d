"""A manifest decides which parts belong, of which month and version; the rest is refused."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.ingestion.delivery import Limits
from tests.costs.small_files import NEW, OLD, OTHER, PERIOD, TEXT, Inbox, azure, cur2, legacy, names


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


# ── AWS, legacy ──────────────────────────────────────────────────────────────────────────────────


def aws_bucket(inbox: Inbox, top: str = "reports/") -> str:
    """Two versions of a report, each with its manifest; the one above them names the new one."""
    period = f"{top}cur/{PERIOD}"
    for version, content in ((OLD, TEXT), (NEW, OTHER)):
        inbox.put(f"{period}/{version}/cur-1.csv.gz", gzip.compress(content))
        inbox.put(f"{period}/{version}/cur-2.csv.gz", gzip.compress(content + b"9,9\n"))
        said = legacy(version, "cur-1.csv.gz", "cur-2.csv.gz")
        inbox.put_json(f"{period}/{version}/cur-Manifest.json", said)
    inbox.put_json(f"{period}/cur-Manifest.json", legacy(NEW, "cur-1.csv.gz", "cur-2.csv.gz"))
    return period


@pytest.mark.parametrize("source", ["", "reports", "reports/cur", f"reports/cur/{PERIOD}"])
def test_the_manifest_of_the_period_decides_from_wherever_one_looks(
    inbox: Inbox, source: str
) -> None:
    aws_bucket(inbox)

    delivery = inbox.take(source)

    assert [part.path.parent.name for part in delivery.parts] == [NEW, NEW]
    assert [part.path.name for part in delivery.parts] == ["cur-1.csv.gz", "cur-2.csv.gz"]
    assert (delivery.assembly, delivery.month) == (NEW, "2026-09")
    assert (delivery.manifest or "").endswith(f"{'' if PERIOD in source else '/'}cur-Manifest.json")
    assert delivery.assembled_at is None
    assert inbox.told[0] == "2 other files lie there that the manifest does not name"


def test_a_bucket_may_lie_deeper_than_its_keys_say(inbox: Inbox) -> None:
    aws_bucket(inbox, top="copies/of/bills/reports/")

    assert inbox.take().assembly == NEW


def test_parts_may_lie_flat_beside_the_manifest(inbox: Inbox) -> None:
    inbox.put_json("sept/cur-Manifest.json", legacy(NEW, "cur-2.csv", "cur-1.csv"))
    inbox.put("sept/cur-1.csv")
    inbox.put("sept/cur-2.csv", OTHER)
    inbox.put("sept/cur-1-finalized.csv", b"a,b\n7,8\n")

    assert names(inbox.take()) == ["sept/cur-2.csv", "sept/cur-1.csv"]


def test_a_manifest_named_alone_stands_for_its_folder(inbox: Inbox) -> None:
    period = aws_bucket(inbox)

    assert inbox.take(f"{period}/cur-Manifest.json").assembly == NEW
    assert inbox.take(f"{period}/{OLD}/cur-Manifest.json").assembly == OLD


def test_parts_named_with_their_manifest_must_be_its_own(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy(NEW, "cur-1.csv"))
    inbox.put("cur-1.csv")
    inbox.put("cur-9.csv", OTHER)

    assert inbox.take("cur-Manifest.json", "cur-1.csv").assembly == NEW
    refused = inbox.refusal("cur-Manifest.json", "cur-1.csv", "cur-9.csv")
    assert (refused.file, refused.rule) == ("cur-9.csv", "part_unlisted")
    assert inbox.refusal("cur-Manifest.json", "cur-9.csv").rule == "part_missing"


def test_a_missing_part_stops_it(inbox: Inbox) -> None:
    period = aws_bucket(inbox)
    (inbox.folder / period / NEW / "cur-2.csv.gz").unlink()

    refused = inbox.refusal()

    assert refused.rule == "part_missing"
    assert "cur-2.csv.gz" in refused.detail


def test_an_older_version_does_not_do_for_a_newer_one(inbox: Inbox) -> None:
    """The part has the right name and lies in the folder, but in the old version's."""
    period = aws_bucket(inbox)
    for name in ("cur-1.csv.gz", "cur-2.csv.gz"):
        (inbox.folder / period / NEW / name).unlink()

    assert inbox.refusal().rule == "part_missing"


def test_a_part_that_may_be_either_of_two_files_is_refused(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy(NEW, "cur-1.csv"))
    inbox.put(f"a/reports/cur/{PERIOD}/{NEW}/cur-1.csv")
    inbox.put(f"b/reports/cur/{PERIOD}/{NEW}/cur-1.csv", OTHER)

    assert inbox.refusal().rule == "part_ambiguous"


def test_a_part_named_twice_is_refused(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy(NEW, "cur-1.csv", "cur-1.csv"))
    inbox.put("cur-1.csv")

    assert inbox.refusal().rule == "same_part_twice"


def test_equal_parts_are_taken_where_a_manifest_vouches_for_them(inbox: Inbox) -> None:
    """Two lines that look alike are both billable."""
    inbox.put_json("cur-Manifest.json", legacy(NEW, "cur-1.csv", "cur-2.csv"))
    inbox.put("cur-1.csv")
    inbox.put("cur-2.csv")

    assert len(inbox.take().parts) == 2


def test_several_versions_without_moments_or_a_period_manifest_are_refused(inbox: Inbox) -> None:
    period = aws_bucket(inbox)
    (inbox.folder / period / "cur-Manifest.json").unlink()

    refused = inbox.refusal()

    assert refused.rule == "several_assemblies"
    assert OLD in refused.detail


def test_versions_named_by_their_moment_are_ordered_by_it(inbox: Inbox) -> None:
    older, newer = "20261003T101500Z", "20261004T091500Z"
    for version, content in ((newer, OTHER), (older, TEXT)):
        inbox.put(f"{PERIOD}/{version}/cur-1.csv", content)
        inbox.put_json(f"{PERIOD}/{version}/cur-Manifest.json", legacy(version, "cur-1.csv"))

    delivery = inbox.take()

    assert delivery.assembly == newer
    assert delivery.assembled_at == datetime(2026, 10, 4, 9, 15, tzinfo=UTC)


def test_the_month_asked_for_is_picked(inbox: Inbox) -> None:
    for month, period in (("202608", "20260801-20260901"), ("202609", PERIOD)):
        inbox.put(f"{period}/{NEW}/cur-1.csv", month.encode())
        inbox.put_json(f"{period}/cur-Manifest.json", legacy(NEW, "cur-1.csv", month=month))

    assert inbox.take(month="2026-08").month == "2026-08"
    assert inbox.refusal().rule == "several_months"
    flat = inbox.refusal(f"{PERIOD}", month="2026-08")
    assert (flat.rule, "2026-09" in flat.detail) == ("month_absent", True)


def test_several_reports_of_a_month_are_refused(inbox: Inbox) -> None:
    for name in ("daily", "hourly"):
        inbox.put(f"{name}/cur-1.csv", name.encode())
        said = legacy(NEW, "cur-1.csv", reportName=name)
        inbox.put_json(f"{name}/cur-Manifest.json", said)

    assert inbox.refusal().rule == "several_reports"
    assert inbox.take("daily").parts[0].bytes == len("daily")
    assert inbox.refusal("daily", "hourly").rule == "several_reports"


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
def test_what_is_no_manifest_though_called_one_is_refused(inbox: Inbox, content: bytes) -> None:
    inbox.put("cur-Manifest.json", content)
    inbox.put("a.csv")

    assert inbox.refusal().rule == "manifest"


def test_a_manifest_that_names_nothing_is_refused(inbox: Inbox) -> None:
    inbox.put_json("cur-Manifest.json", legacy(NEW))

    assert inbox.refusal().rule == "no_parts"


@pytest.mark.parametrize("name", ["cur-Manifest.json", "cur-Manifest.json.gz"])
def test_a_huge_manifest_is_refused_before_it_is_read(inbox: Inbox, name: str) -> None:
    inbox.put_json(name, legacy(NEW, *(f"cur-{at}.csv" for at in range(1000))))

    assert inbox.refusal(limits=Limits(manifest_bytes_max=9_999)).rule == "too_large"
    assert inbox.refusal(limits=Limits(parts_max=999)).rule == "too_many_parts"


@pytest.mark.parametrize(
    "key",
    ["../../etc/passwd", "/etc/passwd", "..", "", "/", "s3://bills", "C:\\a.csv", "a\0b.csv", "."],
)
def test_keys_that_climb_lead_nowhere(inbox: Inbox, key: str) -> None:
    inbox.put_json("cur-Manifest.json", legacy(NEW, reportKeys=[key]))
    inbox.put("a.csv")

    assert inbox.refusal().rule == "part_missing"


# ── AWS CUR 2.0 ──────────────────────────────────────────────────────────────────────────────────


def test_manifests_of_the_second_kind_lie_apart_from_their_data(inbox: Inbox) -> None:
    for month in ("2026-08", "2026-09"):
        inbox.put(f"cur/data/BILLING_PERIOD={month}/cur-00001.csv.gz", month.encode())
        folder = f"cur/metadata/BILLING_PERIOD={month}"
        inbox.put_json(f"{folder}/cur-Manifest.json", cur2("cur-00001.csv.gz", month=month))

    delivery = inbox.take(month="2026-08")
    assert names(delivery) == ["cur/data/BILLING_PERIOD=2026-08/cur-00001.csv.gz"]
    assert (delivery.month, delivery.assembly) == ("2026-08", "exec-1")

    alone = inbox.take("cur/metadata/BILLING_PERIOD=2026-09/cur-Manifest.json")
    assert alone.month == "2026-09"


def test_runs_of_the_second_kind_are_told_apart_by_their_moments(inbox: Inbox) -> None:
    runs = [f"2026-10-0{day}T10:15:00.000Z-{NEW}" for day in (3, 4)]
    for run in runs:
        inbox.put(f"cur/data/BILLING_PERIOD=2026-09/{run}/cur-1.csv", run.encode())
        folder = f"cur/metadata/BILLING_PERIOD=2026-09/{run}"
        inbox.put_json(f"{folder}/cur-Manifest.json", cur2("cur-1.csv", run=run))

    delivery = inbox.take()

    assert delivery.assembly == runs[1]
    assert delivery.assembled_at == datetime(2026, 10, 4, 10, 15, tzinfo=UTC)


# ── Azure ────────────────────────────────────────────────────────────────────────────────────────


def azure_run(inbox: Inbox, run: str, content: bytes = TEXT, **more: Any) -> str:
    folder = f"exports/actual/20260901-20260930/{run}"
    inbox.put(f"{folder}/part_0_0001.csv", content)
    inbox.put_json(f"{folder}/manifest.json", azure(run, ("part_0_0001.csv", len(content)), **more))
    return folder


def test_the_newest_run_of_an_export_counts(inbox: Inbox) -> None:
    azure_run(inbox, NEW, OTHER, submitted="2026-10-03T04:05:07.0000001Z")
    azure_run(inbox, OLD, submitted="2026-10-03T04:05:06.9999999Z")

    delivery = inbox.take()

    assert (delivery.assembly, delivery.month) == (NEW, "2026-09")
    assert delivery.assembled_at == datetime(2026, 10, 3, 4, 5, 7, tzinfo=UTC)


def test_a_part_of_another_size_is_refused(inbox: Inbox) -> None:
    folder = azure_run(inbox, NEW)
    inbox.put(f"{folder}/part_0_0001.csv", TEXT + b"5,6\n")

    refused = inbox.refusal()

    assert refused.rule == "part_size"
    assert (refused.file, refused.detail) == (
        f"{folder}/part_0_0001.csv",
        "it has 12 bytes; the manifest says 8",
    )


def test_row_counts_are_handed_on_to_whoever_reads_the_rows(inbox: Inbox) -> None:
    said = azure(NEW, ("a.csv", len(TEXT)))
    said["blobs"][0]["dataRowCount"] = 7
    inbox.put_json("manifest.json", said)
    inbox.put("a.csv")

    assert inbox.take().parts[0].rows == 7


@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.gz"])
def test_old_manifests_tell_the_month_by_the_folder(inbox: Inbox, name: str) -> None:
    blob = {"blobName": "exports/actual/20260901-20260930/a.csv", "byteCount": len(TEXT)}
    inbox.put_json(f"20260901-20260930/{name}", {"blobs": [blob]})
    inbox.put("20260901-20260930/a.csv")

    delivery = inbox.take()

    assert (delivery.month, delivery.assembly) == ("2026-09", None)


def test_an_amortised_export_is_refused_and_passed_over_beside_the_actual_one(
    inbox: Inbox,
) -> None:
    amortised = {"exportName": "amortised", "type": "AmortizedCost"}
    azure_run(inbox, OLD, exportConfig=amortised)

    assert inbox.refusal().rule == "amortised"

    azure_run(inbox, NEW, OTHER)
    assert inbox.take().assembly == NEW


def test_exports_of_something_else_are_refused(inbox: Inbox) -> None:
    azure_run(inbox, NEW, exportConfig={"exportName": "prices", "type": "PriceSheet"})

    assert inbox.refusal().rule == "not_costs"


def test_a_manifest_that_miscounts_its_blobs_is_refused(inbox: Inbox) -> None:
    azure_run(inbox, NEW, blobCount=2)

    assert inbox.refusal().rule == "manifest"


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
def test_the_month_of_a_run_is_the_one_it_covers(
    inbox: Inbox, start: str, end: str, month: str | None
) -> None:
    run = {"runId": NEW, "startDate": start, "endDate": end}
    azure_run(inbox, NEW, runInfo=run)

    assert inbox.take().month == month
