"""POST /m/core/exportcsv/billing-group-setting"""

from __future__ import annotations

import json

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import PATH, create_billing_group
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.exports.export_requests import (
    BOM,
    SETTING_HEADER,
    SETTINGS,
    create_link,
    download_content,
    export_rows,
)
from tests.running_service import Service


def test_without_settings_the_file_has_only_the_header(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="has none")

    file = download_content(service, create_link(service, SETTINGS))

    assert file == BOM + (",".join(SETTING_HEADER) + "\r\n").encode()


def test_every_field_is_in_its_column(service: Service) -> None:
    setting = VALID_SETTING | {
        "discount_rate": 0.05,
        "tax_rate": 0.1,
        "support_fee": "aws_business",
        "support_rate": 0.07,
        "support_fix": 1200,
        "substitution_fee": "fix",
        "substitution_rate": 0.03,
        "substitution_fix": 500,
        "calc_type": "tag",
        "discount_target_usage": "cloudpayonly",
        "substitution_fee_calc_target": "discounted",
    }
    create_billing_group(
        service,
        service.root(),
        billinggroup_id="BG-1",
        billinggroup_name="さくら",
        invoices={"aws": setting},
    )

    assert export_rows(service, SETTINGS) == [
        [
            "BG-1",
            "さくら",
            "aws",
            "0.05",
            "0.1",
            "aws_business",
            "0.07",
            "1200",
            "fix",
            "0.03",
            "500",
            "tag",
            "cloudpayonly",
            "discounted",
        ]
    ]


def test_there_is_one_sorted_row_per_group_and_vendor(service: Service) -> None:
    both = {"azure": VALID_SETTING, "aws": VALID_SETTING}
    create_billing_group(service, service.root(), billinggroup_id="b", invoices=both)
    create_billing_group(
        service, service.root(), billinggroup_id="a", invoices={"azure": VALID_SETTING}
    )
    create_billing_group(service, service.root(), billinggroup_id="c")

    assert [(row[0], row[2]) for row in export_rows(service, SETTINGS)] == [
        ("a", "azure"),
        ("b", "aws"),
        ("b", "azure"),
    ]


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ("0", "0"),
        ("0.0", "0.0"),
        ("0.10", "0.10"),
        ("0.1", "0.1"),
        ("1", "1"),
        ("1.000", "1.000"),
        ("0.123456789012345678901234567", "0.123456789012345678901234567"),
        ("1e-7", "0.0000001"),
        ("0.05", "0.05"),
        ("1e0", "1"),
    ],
)
def test_a_number_keeps_the_digits_sent(service: Service, sent: str, written: str) -> None:
    """Sent as written here: no float comes between."""
    marker = 0.7654321
    body = {
        "billinggroup_id": "1",
        "billinggroup_name": "n",
        "company_name": "c",
        "inv_aggregate": True,
        "invoices": {"aws": VALID_SETTING | {"discount_rate": marker}},
    }
    made = service.http.post(
        PATH,
        content=json.dumps(body).replace(str(marker), sent),
        headers={**service.root(), "Content-Type": "application/json"},
    )
    assert made.status_code == 200, made.text

    ((_, _, _, discount_rate, *_),) = export_rows(service, SETTINGS)

    assert discount_rate == written


def test_a_large_fixed_amount_has_no_exponent(service: Service) -> None:
    setting = VALID_SETTING | {"support_fix": 1_000_000, "substitution_fix": 1_000_000}
    create_billing_group(service, service.root(), billinggroup_id="1", invoices={"aws": setting})

    (row,) = export_rows(service, SETTINGS)

    assert (row[7], row[10]) == ("1000000", "1000000")


def test_restricted_users_get_only_their_billing_groups(service: Service) -> None:
    aws = {"aws": VALID_SETTING}
    seen = create_billing_group(service, service.root(), billinggroup_id="seen", invoices=aws)
    create_billing_group(service, service.root(), billinggroup_id="hidden", invoices=aws)

    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[seen])

    assert [row[0] for row in export_rows(service, SETTINGS, restricted)] == ["seen"]


def test_the_two_kinds_of_file_are_stored_separately(service: Service) -> None:
    create_billing_group(
        service, service.root(), billinggroup_id="1", invoices={"aws": VALID_SETTING}
    )
    create_link(service)

    file = download_content(service, create_link(service, SETTINGS, redo=True))

    assert file.startswith(BOM + ",".join(SETTING_HEADER).encode())
