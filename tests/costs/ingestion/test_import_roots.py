"""Sources named by callers must be under an import root."""

from __future__ import annotations

from pathlib import Path

import pytest

from nimbill.costs.ingestion.import_roots import (
    is_key_under,
    resolve_allowed_source,
    roots_of_organisation,
)
from tests.costs.inbox import NEW, PERIOD, Inbox, cur2_manifest, legacy_manifest, part_names


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


CONFIGURED = ["/srv/{organisation}/cur", "/shared", "s3://bills/{organisation}?region=eu"]


def test_each_organisation_has_its_own_roots() -> None:
    assert roots_of_organisation(CONFIGURED, "org_a", is_only_one=False) == [
        "/srv/org_a/cur",
        "s3://bills/org_a?region=eu",
    ]


def test_the_only_organisation_may_use_a_root_without_its_name() -> None:
    roots = roots_of_organisation(CONFIGURED, "org_a", is_only_one=True)

    assert roots == ["/srv/org_a/cur", "/shared", "s3://bills/org_a?region=eu"]


def test_a_path_under_a_root_is_allowed_and_its_links_are_resolved(inbox: Inbox) -> None:
    path = inbox.put("september/a.csv")
    (inbox.folder / "latest").symlink_to(path.parent)
    roots = ["/elsewhere", str(inbox.folder)]

    assert resolve_allowed_source(str(path), roots) == str(path)
    assert resolve_allowed_source(str(inbox.folder / "latest" / "a.csv"), roots) == str(path)
    assert resolve_allowed_source(str(inbox.folder), roots) == str(inbox.folder)
    assert resolve_allowed_source(f"{inbox.folder}/september/../september/a.csv", roots) == str(
        path
    )


def test_a_relative_path_is_relative_to_the_first_local_root(
    inbox: Inbox,
) -> None:
    path = inbox.put("september/a.csv")

    assert resolve_allowed_source("september/a.csv", ["s3://b", str(inbox.folder), "/b"]) == str(
        path
    )


def test_a_missing_file_is_allowed(inbox: Inbox) -> None:
    """Callers cannot find out which files exist; the import reports a missing file."""
    roots = [str(inbox.folder)]

    assert resolve_allowed_source("nothing.csv", roots) == str(inbox.folder / "nothing.csv")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "/etc/passwd",
        "../outside.csv",
        "{inbox}/../outside.csv",
        "{inbox}x/a.csv",
        "leads-out",
        "leads-out/passwd",
        "{inbox}/a\0.csv",
        "file:///etc/passwd",
        "http://169.254.169.254/latest",
        "s3://bills/a.csv",
    ],
)
def test_a_path_under_no_root_is_not_allowed(inbox: Inbox, source: str) -> None:
    (inbox.folder / "leads-out").symlink_to("/etc")
    (inbox.folder.parent / "inboxx").mkdir()

    assert resolve_allowed_source(source.format(inbox=inbox.folder), [str(inbox.folder)]) is None


def test_without_a_local_root_no_path_is_allowed() -> None:
    assert resolve_allowed_source("a.csv", ["s3://bills"]) is None
    assert resolve_allowed_source("/a.csv", []) is None


def test_a_root_may_be_a_link(inbox: Inbox, tmp_path: Path) -> None:
    path = inbox.put("a.csv")
    link = tmp_path / "link"
    link.symlink_to(inbox.folder)

    assert resolve_allowed_source(str(link / "a.csv"), [str(link)]) == str(path)
    assert resolve_allowed_source(str(path), [str(link)]) == str(path)


ROOTS = ["s3://bills/cur/2026", "s3://other?region=eu-west-1&endpoint_override=store:9000"]


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("s3://bills/cur/2026", "s3://bills/cur/2026"),
        ("s3://bills/cur/2026/09/", "s3://bills/cur/2026/09/"),
        ("s3://other", "s3://other?region=eu-west-1&endpoint_override=store:9000"),
        ("s3://other/a b/ü", "s3://other/a b/ü?region=eu-west-1&endpoint_override=store:9000"),
    ],
)
def test_an_address_gets_the_parameters_of_its_root(source: str, allowed: str) -> None:
    assert resolve_allowed_source(source, ROOTS) == allowed


@pytest.mark.parametrize(
    "source",
    [
        "s3://bills/cur/20267",
        "s3://bills/cur",
        "s3://bills",
        "s3://bills2/cur/2026/a",
        "s3://bills/cur/2026/../2025",
        "s3://bills/cur//2026/a",
        "s3://bills/cur/2026/./a",
        "s3://other?endpoint_override=evil.example",
        "s3://other/a?x=1",
        "s3://other/a#x",
        "s3://key:secret@other/a",
        "s3://other\\@evil/a",
        "s3://other/a\nb",
        "s3://",
        "s3:///",
        "S3://other/a",
        "gs://other/a",
    ],
)
def test_an_address_under_no_root_is_not_allowed(source: str) -> None:
    assert resolve_allowed_source(source, ROOTS) is None


@pytest.mark.parametrize(
    ("key", "is_allowed"),
    [
        ("bills/org_a", True),
        ("bills/org_a/2026/x-Manifest.json", True),
        ("bills", False),
        ("bills/org_ab/x", False),
        ("bills/org_b/x", False),
        ("other/org_a", False),
    ],
)
def test_keys_of_other_organisations_are_outside(key: str, is_allowed: bool) -> None:
    assert is_key_under(key, ["/bills/org_a", "s3://bills/org_a?region=eu"]) is is_allowed


# ── files in a source ────────────────────────────────────────────────────────────────────────────


def test_links_within_the_roots_are_followed(inbox: Inbox) -> None:
    inbox.put("store/a.csv")
    (inbox.folder / "september").mkdir()
    (inbox.folder / "september" / "a.csv").symlink_to("../store/a.csv")

    assert part_names(inbox.fetch("september", roots=[str(inbox.folder)])) == ["a.csv"]


@pytest.mark.parametrize("link", ["september/a.csv", "september/folder"])
def test_links_out_of_the_roots_are_only_followed_for_operators(
    inbox: Inbox, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.csv").write_bytes(b"secret\n1\n")
    (inbox.folder / "september").mkdir()
    (inbox.folder / link).symlink_to(outside / "a.csv" if link.endswith("csv") else outside)

    error = inbox.fetch_error("september", roots=[str(inbox.folder)])

    assert error.rule == "outside_roots"
    assert len(inbox.fetch("september").parts) == 1


def test_a_source_that_is_a_link_out_of_the_roots_is_refused(inbox: Inbox, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"secret\n1\n")
    (inbox.folder / "a.csv").symlink_to(tmp_path / "a.csv")
    (inbox.folder / "all").symlink_to(tmp_path)

    assert inbox.fetch_error("a.csv", roots=[str(inbox.folder)]).rule == "outside_roots"
    assert inbox.fetch_error("all", roots=[str(inbox.folder)]).rule == "outside_roots"


def test_a_manifest_in_a_root_cannot_reach_above_it(inbox: Inbox) -> None:
    """A CUR 2.0 manifest refers to the parent of its metadata folder, which may be outside."""
    inbox.put_json("metadata/cur-Manifest.json", cur2_manifest("a.csv"))
    inbox.put("data/BILLING_PERIOD=2026-09/a.csv")
    roots = [str(inbox.folder / "metadata")]

    assert inbox.fetch_error("metadata/cur-Manifest.json", roots=roots).rule == "part_missing"
    assert part_names(inbox.fetch("metadata/cur-Manifest.json")) == [
        "data/BILLING_PERIOD=2026-09/a.csv"
    ]


@pytest.mark.parametrize("name", ["metadata", "_metadata", ".inbox", "20260801-20260901"])
@pytest.mark.parametrize("below", ["", "/reports"])
def test_the_names_of_the_root_do_not_matter(inbox: Inbox, name: str, below: str) -> None:
    root = f"{name}{below}"
    period = f"{root}/{PERIOD}"
    inbox.put(f"{period}/{NEW}/a.csv")
    inbox.put(f"{name}/other/unrelated.csv")
    inbox.put_json(f"{period}/cur-Manifest.json", legacy_manifest(NEW, "a.csv"))
    roots = [str(inbox.folder / root)]

    for source in (root, period, f"{period}/cur-Manifest.json"):
        delivery = inbox.fetch(source, roots=roots)
        assert [part.path.name for part in delivery.parts] == ["a.csv"]
        assert delivery.month == "2026-09"


def test_a_cur2_manifest_is_found_below_a_root_named_metadata(inbox: Inbox) -> None:
    inbox.put("metadata/cur/data/BILLING_PERIOD=2026-09/a.csv")
    manifest = "metadata/cur/metadata/BILLING_PERIOD=2026-09/cur-Manifest.json"
    inbox.put_json(manifest, cur2_manifest("a.csv"))

    delivery = inbox.fetch(manifest, roots=[str(inbox.folder / "metadata")])

    assert part_names(delivery) == ["data/BILLING_PERIOD=2026-09/a.csv"]


def test_without_a_root_a_distant_folder_named_metadata_does_not_matter(inbox: Inbox) -> None:
    """A CUR 2.0 manifest is at most two folders below its metadata folder."""
    period = f"metadata/aws/cur/{PERIOD}"
    inbox.put(f"{period}/{NEW}/a.csv")
    inbox.put_json(f"{period}/cur-Manifest.json", legacy_manifest(NEW, "a.csv"))

    delivery = inbox.fetch(f"{period}/cur-Manifest.json")

    assert part_names(delivery) == [f"{NEW}/a.csv"]


def test_a_link_into_the_folder_of_another_organisation_is_refused(inbox: Inbox) -> None:
    inbox.put("org_b/a.csv")
    (inbox.folder / "org_a").mkdir()
    (inbox.folder / "org_a" / "a.csv").symlink_to("../org_b/a.csv")
    roots = [str(inbox.folder / "org_a")]

    error = inbox.fetch_error("org_a", roots=roots)

    assert error.rule == "outside_roots"
    assert "org_b" not in f"{error.file} {error.detail}"


def test_circular_links_are_entered_once(inbox: Inbox) -> None:
    inbox.put("september/a.csv")
    (inbox.folder / "september" / "again").symlink_to(inbox.folder)

    assert part_names(inbox.fetch("september")) == ["a.csv"]
    (inbox.folder / "b").symlink_to(inbox.folder / "b")
    assert inbox.fetch_error("b").rule in {"source_missing", "not_a_file"}
