"""Deliveries from an object store, over the S3 protocol."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion import object_store
from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.object_store import ObjectStoreFiles
from nimbill.costs.ingestion.parts import Delivery, Limits
from nimbill.costs.ingestion.storage_sources import FetchedFile, SourceFile
from tests.costs.inbox import (
    CSV_TEXT,
    NEW,
    OLD,
    OTHER_CSV_TEXT,
    PERIOD,
    cur2_manifest,
    legacy_manifest,
    part_names,
    read_text,
)
from tests.costs.object_store_server import ObjectStore

pytestmark = pytest.mark.usefixtures("store_credentials")


@pytest.fixture
def bucket(store: ObjectStore, request: pytest.FixtureRequest) -> str:
    name = hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    return store.bucket(name)


def fetch(
    addresses: Sequence[str],
    spool: Path,
    month: str | None = None,
    roots: Sequence[str] | None = None,
) -> Delivery:
    spool.mkdir(exist_ok=True)
    return fetch_delivery(
        addresses, spool=spool, month=month, limits=Limits(), notify=lambda _: None, roots=roots
    )


def fetch_error(address: str, spool: Path, month: str | None = None) -> CostFileError:
    with pytest.raises(CostFileError) as caught:
        fetch([address], spool, month)
    return caught.value


def put_report(store: ObjectStore, bucket: str) -> str:
    """Two versions with their manifests, and the period manifest."""
    period = f"reports/cur/{PERIOD}"
    for version, content in ((OLD, CSV_TEXT), (NEW, OTHER_CSV_TEXT)):
        store.put(bucket, f"{period}/{version}/cur-1.csv.gz", gzip.compress(content, mtime=0))
        manifest = json.dumps(legacy_manifest(version, "cur-1.csv.gz")).encode()
        store.put(bucket, f"{period}/{version}/cur-Manifest.json", manifest)
    store.put(bucket, f"{period}/cur-Manifest.json", manifest)
    return period


def test_addresses_and_manifests_stay_in_the_roots(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    """A CUR 2.0 manifest refers to the parent of its metadata folder, which may be outside."""
    manifest = json.dumps(cur2_manifest("a.csv")).encode()
    store.put(bucket, "metadata/org_a/BILLING_PERIOD=2026-09/cur-Manifest.json", manifest)
    store.put(bucket, "metadata/org_a/loose/a.csv", CSV_TEXT)
    store.put(bucket, "metadata/org_b/data/BILLING_PERIOD=2026-09/a.csv", OTHER_CSV_TEXT)
    roots = [f"s3://{bucket}/metadata/org_a"]

    own = fetch([store.address(f"{bucket}/metadata/org_a/loose")], tmp_path / "s", roots=roots)

    assert part_names(own) == ["a.csv"]
    for key, rule in (
        ("metadata/org_a/BILLING_PERIOD=2026-09/cur-Manifest.json", "part_missing"),
        ("metadata/org_b", "outside_roots"),
        ("", "outside_roots"),
    ):
        with pytest.raises(CostFileError) as caught:
            fetch([store.address(f"{bucket}/{key}")], tmp_path / "s", roots=roots)
        assert caught.value.rule == rule
        assert OTHER_CSV_TEXT.decode() not in caught.value.detail


def test_hidden_folders_below_a_prefix_are_skipped(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    store.put(bucket, ".inbox/a.csv", CSV_TEXT)
    store.put(bucket, ".inbox/.trash/b.csv", OTHER_CSV_TEXT)

    delivery = fetch([store.address(f"{bucket}/.inbox")], tmp_path / "spool")

    assert part_names(delivery) == ["a.csv"]


@pytest.mark.parametrize("prefix", ["", "/", "/reports", "/reports/cur/"])
def test_the_manifest_below_a_prefix_decides(
    store: ObjectStore, bucket: str, tmp_path: Path, prefix: str
) -> None:
    put_report(store, bucket)

    delivery = fetch([store.address(bucket + prefix)], tmp_path / "spool")

    (part,) = delivery.parts
    assert (delivery.assembly, delivery.month) == (NEW, "2026-09")
    assert part.path.parent == tmp_path / "spool"
    assert part.sha256 == hashlib.sha256(gzip.compress(OTHER_CSV_TEXT, mtime=0)).hexdigest()
    assert part.file_type == "csv.gz"  # the copy is not decompressed
    assert read_text(part) == OTHER_CSV_TEXT


def test_the_upload_time_is_the_assembly_time(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    put_report(store, bucket)
    store.put(bucket, "loose/a.csv", CSV_TEXT)

    for prefix in ("reports", "loose"):
        time = fetch([store.address(f"{bucket}/{prefix}")], tmp_path / "spool").assembled_at
        assert time is not None
        assert abs(time - datetime.now(UTC)) < timedelta(minutes=5)


def test_a_single_object_or_manifest_can_be_named(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    period = put_report(store, bucket)
    part = store.address(f"{bucket}/{period}/{OLD}/cur-1.csv.gz")
    manifest = store.address(f"{bucket}/{period}/{OLD}/cur-Manifest.json")

    assert [read_text(fetched) for fetched in fetch([part], tmp_path / "a").parts] == [CSV_TEXT]
    by_manifest = fetch([manifest], tmp_path / "b")
    assert (by_manifest.assembly, part_names(by_manifest)) == (OLD, ["cur-1.csv.gz"])


def test_cur2_manifests_are_found_in_the_metadata_folder(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    for month in ("2026-08", "2026-09"):
        store.put(bucket, f"cur/data/BILLING_PERIOD={month}/cur-1.csv", month.encode())
        key = f"cur/metadata/BILLING_PERIOD={month}/cur-Manifest.json"
        store.put(bucket, key, json.dumps(cur2_manifest("cur-1.csv", month=month)).encode())

    address = store.address(f"{bucket}/cur")
    assert fetch([address], tmp_path / "a", month="2026-08").month == "2026-08"
    assert fetch_error(address, tmp_path / "b").rule == "several_months"
    assert fetch([store.address(f"{bucket}/{key}")], tmp_path / "c").month == "2026-09"


def test_versions_are_ordered_by_their_upload_times(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    period = put_report(store, bucket)
    store.client.delete_object(Bucket=bucket, Key=f"{period}/cur-Manifest.json")
    older = store.client.head_object(Bucket=bucket, Key=f"{period}/{NEW}/cur-Manifest.json")
    while datetime.now(UTC) - older["LastModified"] < timedelta(seconds=1.1):
        pass  # the store's times are whole seconds
    manifest = json.dumps(legacy_manifest(OLD, "cur-1.csv.gz")).encode()
    store.put(bucket, f"{period}/{OLD}/cur-Manifest.json", manifest)

    assert fetch([store.address(bucket)], tmp_path / "spool").assembly == OLD


def test_only_the_members_of_zip_files_stay_in_the_spool(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", CSV_TEXT)
        archive.writestr("b.csv", OTHER_CSV_TEXT)
    store.put(bucket, "month.zip", buffer.getvalue())

    delivery = fetch([store.address(bucket)], tmp_path / "spool")

    assert [read_text(part) for part in delivery.parts] == [CSV_TEXT, OTHER_CSV_TEXT]
    assert {part.path for part in delivery.parts} == set((tmp_path / "spool").iterdir())


def test_large_parts_are_copied_completely(store: ObjectStore, bucket: str, tmp_path: Path) -> None:
    contents = [os.urandom(5 * 2**20 + number) for number in range(6)]
    for number, content in enumerate(contents):
        store.put(bucket, f"{number}.csv", content)

    parts = fetch([store.address(bucket)], tmp_path / "spool").parts

    assert [part.path.read_bytes() for part in parts] == contents
    assert [p.sha256 for p in parts] == [hashlib.sha256(c).hexdigest() for c in contents]


def test_an_object_that_changes_while_it_is_copied_is_refused(
    store: ObjectStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(bucket, "a.csv", CSV_TEXT)
    fetch_file = ObjectStoreFiles.fetch

    def replace_and_fetch(
        self: ObjectStoreFiles, file: SourceFile, spool: Path, number: int
    ) -> FetchedFile:
        store.put(bucket, "a.csv", CSV_TEXT + b"5,6\n")
        return fetch_file(self, file, spool, number)

    monkeypatch.setattr(ObjectStoreFiles, "fetch", replace_and_fetch)

    assert fetch_error(store.address(bucket), tmp_path / "spool").rule == "changed"
    assert list((tmp_path / "spool").iterdir()) == []


def test_an_object_that_is_deleted_meanwhile_is_refused(
    store: ObjectStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(bucket, "a.csv", CSV_TEXT)
    fetch_file = ObjectStoreFiles.fetch

    def delete_and_fetch(
        self: ObjectStoreFiles, file: SourceFile, spool: Path, number: int
    ) -> FetchedFile:
        store.client.delete_object(Bucket=bucket, Key="a.csv")
        return fetch_file(self, file, spool, number)

    monkeypatch.setattr(ObjectStoreFiles, "fetch", delete_and_fetch)

    assert fetch_error(store.address(bucket), tmp_path / "spool").rule == "source_missing"


def test_missing_objects_are_refused(store: ObjectStore, bucket: str, tmp_path: Path) -> None:
    for key in ("no-such-bucket-here", f"{bucket}/nothing", f"{bucket}/nothing.csv"):
        assert fetch_error(store.address(key), tmp_path / "spool").rule == "source_missing"


def test_an_unreachable_store_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "ATTEMPTS_MAX", 1)  # without the pauses between attempts
    address = "s3://bills/a?endpoint_override=127.0.0.1:1&scheme=http&region=us-east-1"

    error = fetch_error(address, tmp_path / "spool")

    assert error.rule == "source_unreachable"
    assert "127.0.0.1" not in str(error)


@pytest.mark.parametrize(
    "address",
    [
        "s3://key:secret@bills/a",
        "s3://bills/a?access_key=x&secret_key=y",
        "s3://bills/a?allow_bucket_deletion=true",
        "s3:///a",
        "s3://bills/a#b",
        "s3://bills/a?scheme=gopher&region=us-east-1",
    ],
)
def test_invalid_addresses_are_refused_without_repeating_secrets(
    tmp_path: Path, address: str
) -> None:
    error = fetch_error(address, tmp_path / "spool")

    assert error.rule == "address"
    assert "secret" not in str(error)


def test_the_endpoint_is_read_from_the_environment(
    store: ObjectStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{store.endpoint}")
    store.put(bucket, "a.csv", CSV_TEXT)

    assert read_text(fetch([f"s3://{bucket}/a.csv"], tmp_path / "spool").parts[0]) == CSV_TEXT


def test_local_files_and_objects_form_one_delivery(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    store.put(bucket, "a.csv", CSV_TEXT)
    (tmp_path / "b.csv").write_bytes(OTHER_CSV_TEXT)

    delivery = fetch([store.address(bucket), str(tmp_path / "b.csv")], tmp_path / "spool")

    assert part_names(delivery) == ["a.csv", "b.csv"]
