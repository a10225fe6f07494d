"""POST /m/core/billinggroup/csv: billing groups from a file, all or none."""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import (
    add_invoice_template,
    add_project,
    create_billing_group,
    list_group_ids,
    read_billing_group,
)
from tests.customers.csv_requests import list_audit_rows, list_errors, post_csv
from tests.invoicing.exports.export_requests import create_link, download_content
from tests.problem_responses import CANARY, read_problem
from tests.running_service import Service

PATH = "/m/core/billinggroup/csv"
HEADER = "billinggroup_id,billinggroup_name,company_name"


def test_a_file_creates_a_group_per_line(service: Service) -> None:
    add_project(service, "prj_1")
    add_invoice_template(service, "tpl_1")
    header = f"{HEADER},phone,remarks,inv_aggregate,project_id,invoice_template_id,language"

    response = post_csv(
        service,
        PATH,
        header,
        'BG-2,Beta,Beta KK,\'+81-3-1234-5678,"two\r\nlines",TRUE,prj_1,tpl_1,en',
        "BG-1,Alpha,Alpha KK,,,,,,",
    )

    assert response.status_code == 200, response.text
    beta, alpha = response.json()["created"]
    assert (beta["billinggroup_id"], alpha["billinggroup_id"]) == ("BG-2", "BG-1")
    record = read_billing_group(service, beta["company_id"])
    assert (record["phone"], record["remarks"]) == ("+81-3-1234-5678", "two\r\nlines")
    assert (record["inv_aggregate"], record["language"]) == (True, "en")
    assert (record["project_id"], record["invoice_template_id"]) == ("prj_1", "tpl_1")
    record = read_billing_group(service, alpha["company_id"])
    assert (record["inv_aggregate"], record["phone"], record["project_id"]) == (False, None, None)


def test_an_exported_file_can_be_sent_to_another_organisation(service: Service) -> None:
    texts = {"phone": "03-1234-5678", "address": "東京都", "personal": "=髙橋", "postal": "100"}
    group = create_billing_group(service, service.root(), billinggroup_id="BG-1", **texts)
    exported = download_content(service, create_link(service))
    record = read_billing_group(service, group)

    service.organisation = service.new_organisation()
    headers = service.root() | {"Content-Type": "text/csv; charset=utf-8"}
    response = service.http.post(PATH, content=exported, headers=headers)

    assert response.status_code == 200, response.text
    (created,) = response.json()["created"]
    copied = read_billing_group(service, created["company_id"])
    assert copied | {"company_id": group} == record


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp932"])
def test_files_of_japanese_spreadsheets_are_read(service: Service, encoding: str) -> None:
    header = "請求グループID,請求グループ名,企業名"

    response = post_csv(service, PATH, header, "BG-1,さくら,①髙橋商事", encoding=encoding)

    assert response.status_code == 200, response.text
    (created,) = response.json()["created"]
    assert read_billing_group(service, created["company_id"])["name"] == "①髙橋商事"


def test_every_error_is_reported_and_nothing_is_created(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="BG-1")

    response = post_csv(
        service,
        PATH,
        f"{HEADER},language,project_id,invoice_template_id",
        "BG-1,taken,company,,,",
        "BG-2,,company,fr,,",
        f"BG-3,name,company,,{CANARY},{CANARY}",
        "BG-2,name,company,,,",
        "BG-4,valid,company,,,",
    )

    assert list_errors(response) == [
        ("line 2, billinggroup_id", "not in use yet"),
        ("line 3, billinggroup_name", "required"),
        ("line 3, language", "one of ja, en"),
        ("line 4, project_id", "an existing project"),
        ("line 4, invoice_template_id", "an existing invoice template"),
        ("line 5, billinggroup_id", "once in the file; line 3 has it already"),
    ]
    assert list_group_ids(service) == ["BG-1"]


def test_ids_in_use_alone_are_a_conflict(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="BG-1")

    response = post_csv(service, PATH, HEADER, "BG-2,b,b", "BG-1,a,a")

    assert list_errors(response, 409) == [("line 3, billinggroup_id", "not in use yet")]
    assert read_problem(response, 409)["code"] == "billinggroup_id_taken"
    assert list_group_ids(service) == ["BG-1"]


def test_references_of_another_organisation_look_unknown(service: Service) -> None:
    other = service.new_organisation()
    add_project(service, "prj_foreign", other)

    response = post_csv(service, PATH, f"{HEADER},project_id", "BG-1,a,a,prj_foreign")

    assert list_errors(response) == [("line 2, project_id", "an existing project")]


def test_each_group_has_an_audit_row(service: Service) -> None:
    response = post_csv(service, PATH, HEADER, "BG-1,a,a", "BG-2,b,b")

    rows = list_audit_rows(service, "create_billing_group")
    created = [group["company_id"] for group in response.json()["created"]]
    assert [row["resource"] for row in rows] == [f"billinggroup/{group}" for group in created]
    assert {row["request_id"] for row in rows} == {response.headers["x-request-id"]}
    assert rows[1]["sent"]["billinggroup_id"] == "BG-2"
    assert rows[1]["sent"]["csv_line"] == 3


def test_a_repeat_with_the_same_key_creates_nothing_more(service: Service) -> None:
    headers = service.root() | {"Idempotency-Key": "file-1"}

    first = post_csv(service, PATH, HEADER, "BG-1,a,a", headers=headers)
    again = post_csv(service, PATH, HEADER, "BG-1,a,a", headers=headers)
    other = post_csv(service, PATH, HEADER, "BG-2,a,a", headers=headers)

    assert again.text == first.text
    assert read_problem(other, 409)["code"] == "idempotency_key_reused"
    assert list_group_ids(service) == ["BG-1"]
    assert len(list_audit_rows(service, "create_billing_group")) == 1


def test_restricted_users_cannot_create_groups(service: Service) -> None:
    group = create_billing_group(service, service.root(), billinggroup_id="BG-1")
    headers = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[group])

    response = post_csv(service, PATH, HEADER, "BG-2,b,b", headers=headers)

    assert read_problem(response, 403)["code"] == "narrowed_caller"


def test_other_content_types_and_large_files_are_refused(service: Service) -> None:
    as_json = service.http.post(PATH, json={}, headers=service.root())
    large = post_csv(service, PATH, HEADER, "x" * (4 * 2**20))

    assert read_problem(as_json, 415)["code"] == "media_type"
    assert read_problem(large, 413)["code"] == "body_too_large"


def test_the_largest_file_is_created_at_once(service: Service) -> None:
    lines = [f"BG-{number},n,c" for number in range(2_001)]

    too_many = post_csv(service, PATH, HEADER, *lines)
    response = post_csv(service, PATH, HEADER, *lines[1:])

    assert list_errors(too_many) == [("body", "at most 2,000 lines below the header")]
    assert len(response.json()["created"]) == 2_000
