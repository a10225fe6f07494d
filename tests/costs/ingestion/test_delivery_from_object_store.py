"""Deliveries out of an object store, over its real protocol: listed, copied, hashed, checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nimbill.costs.ingestion.delivery import CostFileError, Delivery, Limits, deliver
from nimbill.costs.ingestion.object_store import StoredFiles
from nimbill.costs.ingestion.storage_sources import FetchedFile, Found
from tests.costs.object_store_server import CREDENTIALS, ObjectStore, object_store
from tests.costs.small_files import NEW, OLD, OTHER, PERIOD, TEXT, cur2, legacy, names, text_of


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as running:
        yield running


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def bucket(store: ObjectStore, request: pytest.FixtureRequest) -> str:
    name = hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    return store.bucket(name)


def take(addresses: Sequence[str], spool: Path, month: str | None = None) -> Delivery:
    spool.mkdir(exist_ok=True)
    return deliver(addresses, spool=spool, month=month, limits=Limits(), tell=lambda _: None)


def refusal(address: str, spool: Path, month: str | None = None) -> CostFileError:
    with pytest.raises(CostFileError) as refused:
        take([address], spool, month)
    return refused.value


def put_report(store: ObjectStore, bucket: str) -> str:
    """Two versions and the manifest above them, as AWS writes them."""
    period = f"reports/cur/{PERIOD}"
    for version, content in ((OLD, TEXT), (NEW, OTHER)):
        store.put(bucket, f"{period}/{version}/cur-1.csv.gz", gzip.compress(content, mtime=0))
        manifest = json.dumps(legacy(version, "cur-1.csv.gz")).encode()
        store.put(bucket, f"{period}/{version}/cur-Manifest.json", manifest)
    store.put(bucket, f"{period}/cur-Manifest.json", manifest)
    return period


@pytest.mark.parametrize("under", ["", "/", "/reports", "/reports/cur/"])
def test_a_prefix_is_a_folder_and_its_manifest_decides(
    store: ObjectStore, bucket: str, tmp_path: Path, under: str
) -> None:
    put_report(store, bucket)

    delivery = take([store.address(bucket + under)], tmp_path / "spool")

    (part,) = delivery.parts
    assert (delivery.assembly, delivery.month) == (NEW, "2026-09")
    assert part.path.parent == tmp_path / "spool"
    assert part.sha256 == hashlib.sha256(gzip.compress(OTHER, mtime=0)).hexdigest()
    assert part.form == "csv.gz"  # copied as it is, not decompressed on the way
    assert text_of(part) == OTHER


def test_the_stores_clock_says_when_it_was_assembled(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    put_report(store, bucket)
    store.put(bucket, "loose/a.csv", TEXT)

    for under in ("reports", "loose"):
        moment = take([store.address(f"{bucket}/{under}")], tmp_path / "spool").assembled_at
        assert moment is not None
        assert abs(moment - datetime.now(UTC)) < timedelta(minutes=5)


def test_an_object_and_a_manifest_may_be_named(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    period = put_report(store, bucket)
    one = store.address(f"{bucket}/{period}/{OLD}/cur-1.csv.gz")
    manifest = store.address(f"{bucket}/{period}/{OLD}/cur-Manifest.json")

    assert [text_of(part) for part in take([one], tmp_path / "a").parts] == [TEXT]
    by_manifest = take([manifest], tmp_path / "b")
    assert (by_manifest.assembly, names(by_manifest)) == (OLD, ["cur-1.csv.gz"])


def test_manifests_beside_their_data_are_found(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    for month in ("2026-08", "2026-09"):
        store.put(bucket, f"cur/data/BILLING_PERIOD={month}/cur-1.csv", month.encode())
        key = f"cur/metadata/BILLING_PERIOD={month}/cur-Manifest.json"
        store.put(bucket, key, json.dumps(cur2("cur-1.csv", month=month)).encode())

    address = store.address(f"{bucket}/cur")
    assert take([address], tmp_path / "a", month="2026-08").month == "2026-08"
    assert refusal(address, tmp_path / "b").rule == "several_months"
    assert take([store.address(f"{bucket}/{key}")], tmp_path / "c").month == "2026-09"


def test_several_versions_are_told_apart_by_when_they_were_written(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    period = put_report(store, bucket)
    store.client.delete_object(Bucket=bucket, Key=f"{period}/cur-Manifest.json")
    older = store.client.head_object(Bucket=bucket, Key=f"{period}/{NEW}/cur-Manifest.json")
    while datetime.now(UTC) - older["LastModified"] < timedelta(seconds=1.1):
        pass  # the store's moments are whole seconds
    manifest = json.dumps(legacy(OLD, "cur-1.csv.gz")).encode()
    store.put(bucket, f"{period}/{OLD}/cur-Manifest.json", manifest)

    assert take([store.address(bucket)], tmp_path / "spool").assembly == OLD


def test_zip_files_are_taken_apart_and_leave_only_their_members(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", TEXT)
        archive.writestr("b.csv", OTHER)
    store.put(bucket, "month.zip", out.getvalue())

    delivery = take([store.address(bucket)], tmp_path / "spool")

    assert [text_of(part) for part in delivery.parts] == [TEXT, OTHER]
    assert {part.path for part in delivery.parts} == set((tmp_path / "spool").iterdir())


def test_many_large_parts_arrive_whole(store: ObjectStore, bucket: str, tmp_path: Path) -> None:
    contents = [os.urandom(5 * 2**20 + at) for at in range(6)]
    for at, content in enumerate(contents):
        store.put(bucket, f"{at}.csv", content)

    parts = take([store.address(bucket)], tmp_path / "spool").parts

    assert [part.path.read_bytes() for part in parts] == contents
    assert [p.sha256 for p in parts] == [hashlib.sha256(c).hexdigest() for c in contents]


def test_an_object_that_changes_while_it_is_copied_is_refused(
    store: ObjectStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(bucket, "a.csv", TEXT)
    bring = StoredFiles.bring

    def overtaken(self: StoredFiles, found: Found, spool: Path, number: int) -> FetchedFile:
        store.put(bucket, "a.csv", TEXT + b"5,6\n")
        return bring(self, found, spool, number)

    monkeypatch.setattr(StoredFiles, "bring", overtaken)

    assert refusal(store.address(bucket), tmp_path / "spool").rule == "changed"
    assert list((tmp_path / "spool").iterdir()) == []


def test_an_object_that_vanishes_is_refused(
    store: ObjectStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(bucket, "a.csv", TEXT)
    bring = StoredFiles.bring

    def overtaken(self: StoredFiles, found: Found, spool: Path, number: int) -> FetchedFile:
        store.client.delete_object(Bucket=bucket, Key="a.csv")
        return bring(self, found, spool, number)

    monkeypatch.setattr(StoredFiles, "bring", overtaken)

    assert refusal(store.address(bucket), tmp_path / "spool").rule == "source_missing"


def test_what_is_not_there_is_refused(store: ObjectStore, bucket: str, tmp_path: Path) -> None:
    for key in ("no-such-bucket-here", f"{bucket}/nothing", f"{bucket}/nothing.csv"):
        assert refusal(store.address(key), tmp_path / "spool").rule == "source_missing"


def test_a_store_that_does_not_answer_is_refused(tmp_path: Path) -> None:
    address = "s3://bills/a?endpoint_override=127.0.0.1:1&scheme=http&region=us-east-1"

    refused = refusal(address, tmp_path / "spool")

    assert refused.rule == "source_unreachable"
    assert "127.0.0.1" not in str(refused)


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
def test_addresses_that_cannot_be_used_are_refused_without_repeating_secrets(
    tmp_path: Path, address: str
) -> None:
    refused = refusal(address, tmp_path / "spool")

    assert refused.rule == "address"
    assert "secret" not in str(refused)


def test_the_endpoint_may_come_from_the_environment(
    store: ObjectStore, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{store.endpoint}")
    store.put(bucket, "a.csv", TEXT)

    assert text_of(take([f"s3://{bucket}/a.csv"], tmp_path / "spool").parts[0]) == TEXT


def test_local_files_and_objects_make_one_delivery(
    store: ObjectStore, bucket: str, tmp_path: Path
) -> None:
    store.put(bucket, "a.csv", TEXT)
    (tmp_path / "b.csv").write_bytes(OTHER)

    delivery = take([store.address(bucket), str(tmp_path / "b.csv")], tmp_path / "spool")

    assert names(delivery) == ["a.csv", "b.csv"]
