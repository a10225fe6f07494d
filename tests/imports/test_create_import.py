"""POST /m/core/costs/imports, with uploaded files or a source; a job does the import."""

from __future__ import annotations

import asyncio
import errno
import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from nimbill.access import uploads
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.errors import Unavailable
from nimbill.imports import operations
from tests.imports.aws_reports import CUSTOMER, build_report, report_line
from tests.imports.in_process_importer import (
    PATH,
    InProcessImporter,
    inbox_of,
    load_totals,
    wait_for_import,
)
from tests.problem_responses import read_problem
from tests.running_service import Service


def put_in_inbox(service: Service, name: str, content: bytes) -> str:
    inbox = inbox_of(service.settings, service.organisation)
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / name).write_bytes(content)
    return name


def test_uploaded_files_are_imported(importer: InProcessImporter) -> None:
    """With the real process, which takes several seconds; other tests use a thread."""
    service, headers = importer.service, importer.headers
    files = [
        ("file", ("part-1.csv.gz", gzip.compress(build_report([report_line("1.5")])))),
        (
            "file",
            ("part-2.csv", build_report([report_line("2.25"), report_line("3", Team="blue")])),
        ),
    ]

    answer = service.http.post(PATH, data={"vendor": "aws"}, files=files, headers=headers)

    assert answer.status_code == 202, answer.text
    assert set(answer.json()) == {"status", "import_id"}
    record = wait_for_import(service, answer.json()["import_id"], headers)
    assert (record["state"], record["lines"], record["month"]) == ("done", 3, "2026-09")
    assert record["sources"] == ["part-1.csv.gz", "part-2.csv"]
    assert load_totals(importer) == {CUSTOMER: 6.75}


@pytest.mark.usefixtures("preparation_in_thread")
def test_a_source_under_an_allowed_root_is_imported(importer: InProcessImporter) -> None:
    service, headers = importer.service, importer.headers
    name = put_in_inbox(service, "september.csv", build_report([report_line("4")]))
    body = {"vendor": "aws", "month": "2026-09", "source": name}

    answer = service.http.post(PATH, json=body, headers=headers)

    assert answer.status_code == 202, answer.text
    assert wait_for_import(service, answer.json()["import_id"], headers)["state"] == "done"


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "../key", "inbox/../../key", "http://127.0.0.1/x", "s3://other/x"]
)
def test_a_source_outside_the_roots_is_refused(importer: InProcessImporter, source: str) -> None:
    body = {"vendor": "aws", "source": source}

    answer = importer.service.http.post(PATH, json=body, headers=importer.headers)

    assert answer.status_code == 400
    assert [violation["field"] for violation in answer.json()["violations"]] == ["source"]
    assert importer.service.http.get(PATH, headers=importer.headers).json() == []


@pytest.mark.parametrize(
    ("sent", "fields"),
    [
        ({}, {"vendor", "source"}),
        ({"vendor": "oracle", "source": "x"}, {"vendor"}),
        ({"vendor": "aws", "source": "x", "month": "2026-13"}, {"month"}),
        ({"vendor": "aws", "source": ""}, {"source"}),
    ],
)
def test_all_violations_are_reported_together(
    importer: InProcessImporter, sent: dict[str, Any], fields: set[str]
) -> None:
    answer = importer.service.http.post(PATH, json=sent, headers=importer.headers)

    assert answer.status_code == 400
    assert {violation["field"] for violation in answer.json()["violations"]} == fields


def test_a_form_without_a_file_or_a_vendor_is_refused(importer: InProcessImporter) -> None:
    http, headers = importer.service.http, importer.headers
    file = [("file", ("a.csv", build_report([])))]

    without_file = http.post(PATH, files=[("vendor", (None, "aws"))], headers=headers)
    without_vendor = http.post(PATH, files=file, headers=headers)

    assert (without_file.status_code, without_vendor.status_code) == (400, 400)
    assert without_vendor.json()["violations"][0]["field"] == "vendor"
    assert not list((importer.service.settings.data / "uploads").glob("*"))


def test_other_media_types_are_refused(importer: InProcessImporter) -> None:
    headers = importer.headers | {"Content-Type": "text/csv"}

    assert importer.service.http.post(PATH, content=b"a,b", headers=headers).status_code == 415


def test_uploads_without_permission_are_not_stored(importer: InProcessImporter) -> None:
    reader = importer.service.caller(RoleAction.ReadCost)
    files = [("file", ("a.csv", build_report([])))]

    answer = importer.service.http.post(PATH, data={"vendor": "aws"}, files=files, headers=reader)

    assert answer.status_code == 403
    assert not list((importer.service.settings.data / "uploads").glob("*"))


@pytest.mark.usefixtures("preparation_in_thread")
def test_a_file_name_cannot_contain_a_path(importer: InProcessImporter) -> None:
    files = [("file", ("../../../etc/cron.d/evil\u202e.csv", build_report([report_line("1")])))]

    answer = importer.service.http.post(
        PATH, data={"vendor": "aws"}, files=files, headers=importer.headers
    )

    record = wait_for_import(importer.service, answer.json()["import_id"], importer.headers)
    assert record["sources"] == ["evil_.csv"]
    assert record["state"] == "done"


def test_the_same_upload_with_the_same_idempotency_key_is_one_import(
    importer: InProcessImporter,
) -> None:
    http, headers = importer.service.http, importer.headers | {"Idempotency-Key": "once"}

    def send(amount: str) -> Any:
        files = [("file", ("a.csv", build_report([report_line(amount)])))]
        return http.post(PATH, data={"vendor": "aws"}, files=files, headers=headers)

    first, again, other = send("1"), send("1"), send("2")

    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    assert other.status_code == 409
    assert len(http.get(PATH, headers=importer.headers).json()) == 1


@pytest.mark.usefixtures("preparation_in_thread")
def test_restricted_users_can_neither_create_nor_see_imports(
    importer: InProcessImporter,
) -> None:
    http = importer.service.http
    put_in_inbox(importer.service, "x.csv", build_report([report_line("1")]))
    restricted = importer.service.caller(RoleAction.ModifyCost, billing_groups=["grp_none"])
    started = http.post(PATH, json={"vendor": "aws", "source": "x.csv"}, headers=importer.headers)
    import_id = started.json()["import_id"]

    assert (
        http.post(PATH, json={"vendor": "aws", "source": "x.csv"}, headers=restricted).status_code
        == 403
    )
    assert http.get(PATH, headers=restricted).json() == []
    assert http.get(f"{PATH}/{import_id}", headers=restricted).status_code == 404
    wait_for_import(importer.service, import_id, importer.headers)


def test_a_full_disk_is_reported_as_unavailable(
    importer: InProcessImporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("nimbill.access.uploads.os.fsync", full)
    files = [("file", ("a.csv", build_report([report_line("1")])))]

    answer = importer.service.http.post(
        PATH, data={"vendor": "aws"}, files=files, headers=importer.headers
    )

    assert answer.status_code == 503
    assert answer.json()["code"] == "storage_full"
    assert "retry-after" in answer.headers
    assert not list((importer.service.settings.data / "uploads").glob("*"))


def upload(importer: InProcessImporter) -> Any:
    files = [("file", ("a.csv", build_report([report_line("1")])))]
    return importer.service.http.post(
        PATH, data={"vendor": "aws"}, files=files, headers=importer.headers
    )


def test_an_upload_is_refused_if_too_little_of_the_disk_would_stay_free(
    importer: InProcessImporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve = importer.service.settings.disk_reserve_mib
    usage = SimpleNamespace(free=reserve * 2**20 + 100)  # less than the upload on top of it
    monkeypatch.setattr("nimbill.access.uploads.shutil.disk_usage", lambda _folder: usage)

    problem = read_problem(upload(importer), 503)

    assert problem["code"] == "disk_space"
    assert f"{reserve} MiB" in problem["detail"]
    assert not list((importer.service.settings.data / "uploads").glob("*"))
    assert importer.query("SELECT import_id FROM cost_imports") == []


def test_the_free_space_is_checked_again_while_an_upload_is_received(tmp_path: Path) -> None:
    """Another upload may have taken it, and not every client announces the size."""
    free = iter([2 * 2**30, 2 * 2**30, 0])
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'

    async def send() -> AsyncIterator[bytes]:
        yield head
        for _ in range(64):
            yield b"x" * 2**20

    with patch("shutil.disk_usage", lambda _: SimpleNamespace(free=next(free))):
        receiving = uploads.receive_upload(
            "multipart/form-data; boundary=b", send(), tmp_path / "upload", reserve_mib=1
        )
        with pytest.raises(Unavailable) as refused:
            asyncio.run(receiving)

    assert (refused.value.code, refused.value.retry_after) == ("disk_space", 60)
    assert list(tmp_path.iterdir()) == []


def test_an_organisation_has_a_limited_number_of_unfinished_imports(
    importer: InProcessImporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "UNFINISHED_IMPORTS_MAX", 2)
    put_in_inbox(importer.service, "queued.csv", build_report([report_line("1")]))
    unfinished = [importer.start(tmp_path / name) for name in ("a.csv", "b.csv")]

    by_upload = upload(importer)
    by_source = importer.service.http.post(
        PATH, json={"vendor": "aws", "source": "queued.csv"}, headers=importer.headers
    )

    for response in (by_upload, by_source):
        assert read_problem(response, 409)["code"] == "too_many_imports"
    rows = importer.query("SELECT import_id FROM cost_imports")
    assert sorted(row.import_id for row in rows) == sorted(unfinished)
