"""POST /costs/imports: files as a form, or where they lie; acknowledged, then done as work."""

from __future__ import annotations

import errno
import gzip
from pathlib import Path
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.imports.small_files import CUSTOMER, cost, report
from tests.imports.taking import PATH, Taking, finished, totals
from tests.running_service import Service


def put_in_inbox(service: Service, name: str, content: bytes) -> str:
    inbox = Path(service.settings.import_roots[0])
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / name).write_bytes(content)
    return name


def test_uploaded_files_are_taken_in(taking: Taking) -> None:
    service, headers = taking.service, taking.headers
    files = [
        ("file", ("part-1.csv.gz", gzip.compress(report([cost("1.5")])))),
        ("file", ("part-2.csv", report([cost("2.25"), cost("3", Team="blue")]))),
    ]

    answer = service.http.post(PATH, data={"vendor": "aws"}, files=files, headers=headers)

    assert answer.status_code == 202, answer.text
    assert set(answer.json()) == {"status", "import_id"}
    record = finished(service, answer.json()["import_id"], headers)
    assert (record["state"], record["lines"], record["month"]) == ("done", 3, "2026-09")
    assert record["sources"] == ["part-1.csv.gz", "part-2.csv"]
    assert totals(taking) == {CUSTOMER: 6.75}


def test_a_place_under_an_allowed_root_is_taken_in(taking: Taking) -> None:
    service, headers = taking.service, taking.headers
    name = put_in_inbox(service, "september.csv", report([cost("4")]))
    body = {"vendor": "aws", "month": "2026-09", "source": name}

    answer = service.http.post(PATH, json=body, headers=headers)

    assert answer.status_code == 202, answer.text
    assert finished(service, answer.json()["import_id"], headers)["state"] == "done"


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "../key", "inbox/../../key", "http://127.0.0.1/x", "s3://other/x"]
)
def test_a_place_outside_the_roots_is_refused(taking: Taking, source: str) -> None:
    body = {"vendor": "aws", "source": source}

    answer = taking.service.http.post(PATH, json=body, headers=taking.headers)

    assert answer.status_code == 400
    assert [violation["field"] for violation in answer.json()["violations"]] == ["source"]
    assert taking.service.http.get(PATH, headers=taking.headers).json() == []


@pytest.mark.parametrize(
    ("sent", "fields"),
    [
        ({}, {"vendor", "source"}),
        ({"vendor": "oracle", "source": "x"}, {"vendor"}),
        ({"vendor": "aws", "source": "x", "month": "2026-13"}, {"month"}),
        ({"vendor": "aws", "source": ""}, {"source"}),
    ],
)
def test_every_broken_rule_is_named_at_once(
    taking: Taking, sent: dict[str, Any], fields: set[str]
) -> None:
    answer = taking.service.http.post(PATH, json=sent, headers=taking.headers)

    assert answer.status_code == 400
    assert {violation["field"] for violation in answer.json()["violations"]} == fields


def test_a_form_without_a_file_or_a_vendor_is_refused(taking: Taking) -> None:
    http, headers = taking.service.http, taking.headers
    file = [("file", ("a.csv", report([])))]

    nothing = http.post(PATH, files=[("vendor", (None, "aws"))], headers=headers)
    unnamed = http.post(PATH, files=file, headers=headers)

    assert (nothing.status_code, unnamed.status_code) == (400, 400)
    assert unnamed.json()["violations"][0]["field"] == "vendor"
    assert not list((taking.service.settings.data / "uploads").glob("*"))


def test_another_kind_of_body_is_415(taking: Taking) -> None:
    headers = taking.headers | {"Content-Type": "text/csv"}

    assert taking.service.http.post(PATH, content=b"a,b", headers=headers).status_code == 415


def test_nothing_is_written_for_who_may_not_import(taking: Taking) -> None:
    reader = taking.service.caller(RoleAction.ReadCost)
    files = [("file", ("a.csv", report([])))]

    answer = taking.service.http.post(PATH, data={"vendor": "aws"}, files=files, headers=reader)

    assert answer.status_code == 403
    assert not list((taking.service.settings.data / "uploads").glob("*"))


def test_a_file_name_leads_nowhere(taking: Taking) -> None:
    files = [("file", ("../../../etc/cron.d/evil\u202e.csv", report([cost("1")])))]

    answer = taking.service.http.post(
        PATH, data={"vendor": "aws"}, files=files, headers=taking.headers
    )

    record = finished(taking.service, answer.json()["import_id"], taking.headers)
    assert record["sources"] == ["evil_.csv"]
    assert record["state"] == "done"


def test_the_same_upload_with_the_same_key_is_one_import(taking: Taking) -> None:
    http, headers = taking.service.http, taking.headers | {"Idempotency-Key": "once"}

    def send(amount: str) -> Any:
        files = [("file", ("a.csv", report([cost(amount)])))]
        return http.post(PATH, data={"vendor": "aws"}, files=files, headers=headers)

    first, again, other = send("1"), send("1"), send("2")

    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    assert other.status_code == 409
    assert len(http.get(PATH, headers=taking.headers).json()) == 1


def test_who_sees_only_some_groups_neither_imports_nor_sees_imports(taking: Taking) -> None:
    http = taking.service.http
    put_in_inbox(taking.service, "x.csv", report([cost("1")]))
    narrowed = taking.service.caller(RoleAction.ModifyCost, billing_groups=["grp_none"])
    started = http.post(PATH, json={"vendor": "aws", "source": "x.csv"}, headers=taking.headers)
    import_id = started.json()["import_id"]

    assert (
        http.post(PATH, json={"vendor": "aws", "source": "x.csv"}, headers=narrowed).status_code
        == 403
    )
    assert http.get(PATH, headers=narrowed).json() == []
    assert http.get(f"{PATH}/{import_id}", headers=narrowed).status_code == 404
    finished(taking.service, import_id, taking.headers)


def test_a_disk_that_is_full_is_no_fault_of_ours(
    taking: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("nimbill.access.uploads.os.fsync", full)
    files = [("file", ("a.csv", report([cost("1")])))]

    answer = taking.service.http.post(
        PATH, data={"vendor": "aws"}, files=files, headers=taking.headers
    )

    assert answer.status_code == 503
    assert answer.json()["code"] == "storage_full"
    assert "retry-after" in answer.headers
    assert not list((taking.service.settings.data / "uploads").glob("*"))
