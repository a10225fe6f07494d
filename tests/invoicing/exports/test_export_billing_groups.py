"""POST /m/core/exportcsv/billing-group"""

from __future__ import annotations

from nimbill.access.role_actions import RoleAction
from nimbill.invoicing.exports import columns
from tests.contract.specification import read_choice
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.invoicing.exports.export_requests import (
    BOM,
    GROUP_HEADER,
    GROUPS,
    SETTING_HEADER,
    create_link,
    download_content,
    export_rows,
    parse_rows,
)
from tests.running_service import Service

ALL_FIELDS = {
    "billinggroup_id": "BG-1",
    "billinggroup_name": "さくら商事",
    "company_name": "株式会社さくら商事",
    "postal": "100-0001",
    "address": "東京都千代田区千代田1-1",
    "phone": "03‐1234‐5678",
    "personal": "経理部 佐藤 花子",
    "billing_title": "クラウド利用料",
    "remarks": "not in the file",
}


def test_without_groups_the_file_has_only_the_header(service: Service) -> None:
    file = download_content(service, create_link(service))

    assert file == BOM + (",".join(GROUP_HEADER) + "\r\n").encode()


def test_the_headers_are_the_documented_ones() -> None:
    documented = [
        line.split(", ")
        for line in read_choice("csv-headers").splitlines()
        if line.startswith("請求グループID, ")
    ]

    assert documented == [GROUP_HEADER, SETTING_HEADER]


def test_the_headers_in_the_code_equal_those_of_the_file() -> None:
    assert list(columns.BILLING_GROUP) == GROUP_HEADER
    assert list(columns.BILLING_GROUP_SETTING) == SETTING_HEADER


def test_every_field_is_in_its_column(service: Service) -> None:
    create_billing_group(service, service.root(), **ALL_FIELDS)

    assert export_rows(service) == [
        [
            "BG-1",
            "さくら商事",
            "株式会社さくら商事",
            "100-0001",
            "東京都千代田区千代田1-1",
            "03‐1234‐5678",
            "経理部 佐藤 花子",
            "クラウド利用料",
            "",
            "",
        ]
    ]


def test_missing_fields_are_empty(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="BG-1")

    assert export_rows(service) == [["BG-1", "name", "company", "", "", "", "", "", "", ""]]


def test_there_is_one_row_per_group_in_list_order(service: Service) -> None:
    for billinggroup_id in ("b", "A", "a2", "さくら", "a10", "Z"):
        create_billing_group(service, service.root(), billinggroup_id=billinggroup_id)

    assert [row[0] for row in export_rows(service)] == ["A", "Z", "a10", "a2", "b", "さくら"]


def test_every_line_ends_with_crlf(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="1")
    create_billing_group(service, service.root(), billinggroup_id="2")

    text = download_content(service, create_link(service)).decode()

    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r") == text.count("\r\n") == 3


def test_commas_quotes_and_line_breaks_stay_inside_their_cell(service: Service) -> None:
    odd = {"company_name": 'A, "B"', "address": "1\r\n2", "personal": "x\ny", "postal": "\u2028"}
    create_billing_group(service, service.root(), billinggroup_id="1", **odd)

    (row,) = export_rows(service)

    assert row[2:5] == ['A, "B"', "\u2028", "1\r\n2"]
    assert row[6] == "x\ny"


def test_restricted_users_get_only_their_billing_groups(service: Service) -> None:
    seen = create_billing_group(service, service.root(), billinggroup_id="seen")
    create_billing_group(service, service.root(), billinggroup_id="hidden")

    restricted = service.caller(RoleAction.ReadBillingGroup, billing_groups=[seen])

    assert [row[0] for row in export_rows(service, GROUPS, restricted)] == ["seen"]


def test_groups_of_another_organisation_are_not_exported(service: Service) -> None:
    other = service.new_organisation()
    create_billing_group(service, service.root(other), billinggroup_id="theirs")
    create_billing_group(service, service.root(), billinggroup_id="mine")

    assert [row[0] for row in export_rows(service)] == ["mine"]
    assert [row[0] for row in export_rows(service, headers=service.root(other))] == ["theirs"]


def test_later_changes_do_not_change_the_file(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="1")
    path = create_link(service)
    create_billing_group(service, service.root(), billinggroup_id="2")

    assert [row[0] for row in parse_rows(download_content(service, path))[1:]] == ["1"]
