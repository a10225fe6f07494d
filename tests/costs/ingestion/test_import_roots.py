"""What callers of the API name must lie under a root, whatever links and dots say."""

from __future__ import annotations

from pathlib import Path

import pytest

from nimbill.costs.ingestion.import_roots import allowed_source
from tests.costs.small_files import NEW, Inbox, legacy, names


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def test_a_path_under_a_root_is_allowed_with_its_links_resolved(inbox: Inbox) -> None:
    path = inbox.put("september/a.csv")
    (inbox.folder / "latest").symlink_to(path.parent)
    roots = ["/elsewhere", str(inbox.folder)]

    assert allowed_source(str(path), roots) == str(path)
    assert allowed_source(str(inbox.folder / "latest" / "a.csv"), roots) == str(path)
    assert allowed_source(str(inbox.folder), roots) == str(inbox.folder)
    assert allowed_source(f"{inbox.folder}/september/../september/a.csv", roots) == str(path)


def test_a_path_that_does_not_begin_at_the_top_is_meant_under_the_first_folder(
    inbox: Inbox,
) -> None:
    path = inbox.put("september/a.csv")

    assert allowed_source("september/a.csv", ["s3://b", str(inbox.folder), "/b"]) == str(path)


def test_what_need_not_exist_is_allowed_all_the_same(inbox: Inbox) -> None:
    """So that nothing can be learnt about files elsewhere, and what is missing is told later."""
    roots = [str(inbox.folder)]

    assert allowed_source("nothing.csv", roots) == str(inbox.folder / "nothing.csv")


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

    assert allowed_source(source.format(inbox=inbox.folder), [str(inbox.folder)]) is None


def test_without_a_folder_among_the_roots_no_path_is_allowed() -> None:
    assert allowed_source("a.csv", ["s3://bills"]) is None
    assert allowed_source("/a.csv", []) is None


def test_the_root_may_itself_be_a_link(inbox: Inbox, tmp_path: Path) -> None:
    path = inbox.put("a.csv")
    link = tmp_path / "link"
    link.symlink_to(inbox.folder)

    assert allowed_source(str(link / "a.csv"), [str(link)]) == str(path)
    assert allowed_source(str(path), [str(link)]) == str(path)


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
def test_an_address_under_a_root_gets_the_roots_parameters(source: str, allowed: str) -> None:
    assert allowed_source(source, ROOTS) == allowed


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
    assert allowed_source(source, ROOTS) is None


# ── and again for every file ─────────────────────────────────────────────────────────────────────


def test_links_within_the_roots_are_followed(inbox: Inbox) -> None:
    inbox.put("store/a.csv")
    (inbox.folder / "september").mkdir()
    (inbox.folder / "september" / "a.csv").symlink_to("../store/a.csv")

    assert names(inbox.take("september", roots=[str(inbox.folder)])) == ["a.csv"]


@pytest.mark.parametrize("link", ["september/a.csv", "september/folder"])
def test_links_that_lead_out_are_refused_to_callers_and_followed_for_operators(
    inbox: Inbox, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.csv").write_bytes(b"secret\n1\n")
    (inbox.folder / "september").mkdir()
    (inbox.folder / link).symlink_to(outside / "a.csv" if link.endswith("csv") else outside)

    refused = inbox.refusal("september", roots=[str(inbox.folder)])

    assert refused.rule == "outside_roots"
    assert len(inbox.take("september").parts) == 1


def test_a_link_as_the_source_itself_is_refused_too(inbox: Inbox, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"secret\n1\n")
    (inbox.folder / "a.csv").symlink_to(tmp_path / "a.csv")
    (inbox.folder / "all").symlink_to(tmp_path)

    assert inbox.refusal("a.csv", roots=[str(inbox.folder)]).rule == "outside_roots"
    assert inbox.refusal("all", roots=[str(inbox.folder)]).rule == "outside_roots"


def test_a_manifest_in_a_root_cannot_reach_above_it(inbox: Inbox) -> None:
    """Manifests of the second kind look beside their folder, which may be outside."""
    inbox.put("metadata/cur-Manifest.json", b"{}")
    inbox.put_json("metadata/inner/cur-Manifest.json", legacy(NEW, "a.csv"))
    roots = [str(inbox.folder / "metadata")]

    assert inbox.refusal("metadata/cur-Manifest.json", roots=roots).rule == "outside_roots"


def test_links_that_go_round_end(inbox: Inbox) -> None:
    inbox.put("september/a.csv")
    (inbox.folder / "september" / "again").symlink_to(inbox.folder)

    assert names(inbox.take("september")) == ["a.csv"]
    (inbox.folder / "b").symlink_to(inbox.folder / "b")
    assert inbox.refusal("b").rule in {"source_missing", "not_a_file"}
