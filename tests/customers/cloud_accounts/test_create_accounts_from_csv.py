"""POST /m/core/accts/csv: customers' accounts from a file, all or none."""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import AZURE, add_account, list_accounts
from tests.customers.csv_requests import list_audit_rows, list_errors, post_csv
from tests.problem_responses import read_problem
from tests.running_service import Service

PATH = "/m/core/accts/csv"
HEADER = "vendor,customer_id,account_id,name,billinggroup_id"
UNKNOWN_GROUP = "an existing billing group"


@pytest.fixture
def group(service: Service) -> str:
    return create_billing_group(service, service.root(), billinggroup_id="BG-1")


def test_a_file_creates_an_account_per_line(service: Service, group: str) -> None:
    response = post_csv(
        service,
        PATH,
        f"{HEADER},company_id,note",
        "aws,012345678901,000000000042,さくら本番,BG-1,,メモ",
        f"azure,{AZURE['customer_id']},0000042,さくら検証,,{group},",
    )

    assert response.status_code == 200, response.text
    assert [account["company_id"] for account in response.json()["created"]] == [group, group]
    (aws,), (azure,) = list_accounts(service, "aws"), list_accounts(service, "azure")
    assert (aws["customer_id"], aws["customer_name"], aws["note"]) == (
        "012345678901",
        "さくら本番",
        "メモ",
    )
    assert (azure["account_id"], azure["note"], azure["company_id"]) == ("0000042", None, group)


@pytest.mark.parametrize(
    "header",
    [
        "ベンダー,アカウントID,支払アカウントID,アカウント名,請求グループID",
        "Vendor,CustomerID,AccountID,CustomerName,BillingGroupID",
    ],
)
def test_headers_of_exported_files_are_read(service: Service, group: str, header: str) -> None:
    response = post_csv(service, PATH, header, "aws,012345678901,000000000042,name,BG-1")

    assert response.status_code == 200, response.text
    assert [account["company_id"] for account in list_accounts(service, "aws")] == [group]


def test_every_error_is_reported_and_nothing_is_created(service: Service, group: str) -> None:
    add_account(service, group, customer_id="000000000001")

    response = post_csv(
        service,
        PATH,
        f"{HEADER},company_id",
        "aws,12345678901,000000000042,name,BG-1,",
        "oracle,000000000002,000000000042,name,BG-1,",
        "aws,000000000001,000000000042,name,BG-1,",
        "aws,000000000003,42,no,BG-9,",
        "aws,000000000004,000000000042,name,,",
        "aws,000000000004,000000000042,name,BG-1,cmp_unknown",
        "aws,000000000005,000000000042,name,BG-1,",
    )

    assert list_errors(response) == [
        ("line 2, customer_id", "12 digits"),
        ("line 3, vendor", "one of aws, azure"),
        ("line 4, customer_id", "not in use yet"),
        ("line 5, billinggroup_id", UNKNOWN_GROUP),
        ("line 5, name", "length 3 to 100"),
        ("line 5, account_id", "12 digits"),
        ("line 6, billinggroup_id", "required, unless there is a company_id"),
        ("line 7, company_id", UNKNOWN_GROUP),
        ("line 7, customer_id", "once in the file; line 6 has it already"),
    ]
    assert [account["customer_id"] for account in list_accounts(service, "aws")] == ["000000000001"]


def test_two_names_of_different_groups_are_refused(service: Service, group: str) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")

    line = f"aws,012345678901,000000000042,name,BG-1,{other}"
    response = post_csv(service, PATH, f"{HEADER},company_id", line)

    assert group != other
    assert list_errors(response) == [
        ("line 2, company_id", "the billing group that billinggroup_id names")
    ]


def test_an_account_in_use_is_a_conflict(service: Service, group: str) -> None:
    add_account(service, group, customer_id="012345678901")

    response = post_csv(service, PATH, HEADER, "aws,012345678901,000000000042,name,BG-1")

    assert read_problem(response, 409)["code"] == "customer_id_taken"


def test_groups_of_another_organisation_look_unknown(service: Service, group: str) -> None:
    foreign_organisation = service.new_organisation()
    foreign = create_billing_group(
        service, service.root(foreign_organisation), billinggroup_id="BG-F"
    )

    response = post_csv(
        service,
        PATH,
        f"{HEADER},company_id",
        "aws,000000000003,000000000042,name,BG-F,",
        f"aws,000000000004,000000000042,name,,{foreign}",
    )

    assert [rule for _, rule in list_errors(response)] == [UNKNOWN_GROUP] * 2


def test_restricted_callers_create_accounts_in_their_own_groups_only(
    service: Service, group: str
) -> None:
    hidden = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    add_account(service, hidden, customer_id="000000000005")
    restricted = service.caller(RoleAction.ModifyAccount, billing_groups=[group])
    own = "aws,000000000006,000000000042,name,BG-1"

    refused = post_csv(
        service,
        PATH,
        HEADER,
        own,
        "aws,000000000005,000000000042,name,BG-1",
        "aws,000000000007,000000000042,name,BG-2",
        headers=restricted,
    )
    created = post_csv(service, PATH, HEADER, own, headers=restricted)

    assert sorted(list_errors(refused)) == [
        ("line 3, customer_id", "not in use outside your billing groups"),
        ("line 4, billinggroup_id", UNKNOWN_GROUP),
    ]
    assert created.status_code == 200, created.text
    assert len(list_accounts(service, "aws")) == 2


def test_each_account_has_an_audit_row_of_its_group(service: Service, group: str) -> None:
    post_csv(service, PATH, HEADER, "aws,012345678901,000000000042,name,BG-1")

    (row,) = list_audit_rows(service, "create_account")

    assert row["resource"] == "acct/012345678901"
    assert row["company_id"] == group
