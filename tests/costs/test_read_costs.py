"""GET /m/core/costs/{month}"""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.costs.lake.grouping import parse_grouping
from nimbill.foundation.errors import Invalid
from tests.costs.generated_months import (
    LARGEST_UNITS,
    MIDNIGHT,
    amount_of_units,
    build_line,
    generate_month,
)
from tests.costs.months.month_requests import park_month
from tests.costs.stored_months import store_month
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service

PATH = "/m/core/costs"
ACCOUNT, OTHER = "011254002932", "000000000007"


def get_costs(
    service: Service, query: str = "", headers: Any = None, month: str = "2026-09"
) -> Any:
    answer = service.http.get(f"{PATH}/{month}{query}", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    return json.loads(answer.text, parse_float=Decimal, parse_int=Decimal)


def test_all_fields_of_a_month(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id, customer_id=ACCOUNT)
    store_month(service, [build_line(cost=Decimal("1.5")), build_line(cost=Decimal("-0.25"))])

    for action in (RoleAction.ReadCost, RoleAction.ModifyCost):
        assert get_costs(service, headers=service.caller(action)) == {
            "month": "2026-09",
            "vendor": None,
            "provisional": False,
            "parked": False,
            "rows": [
                {
                    "vendor": "aws",
                    "customer_id": ACCOUNT,
                    "company_id": company_id,
                    "currency": "USD",
                    "cost": Decimal("1.25"),
                    "lines": 2,
                }
            ],
            "totals": [{"vendor": "aws", "currency": "USD", "cost": Decimal("1.25"), "lines": 2}],
        }


def test_a_month_without_imports_is_empty(service: Service) -> None:
    assert get_costs(service) == {
        "month": "2026-09",
        "vendor": None,
        "provisional": False,
        "parked": False,
        "rows": [],
        "totals": [],
    }


def test_costs_have_all_digits_and_no_trailing_zeros(service: Service) -> None:
    store_month(
        service,
        [
            build_line(cost=amount_of_units(LARGEST_UNITS)),
            build_line(cost=amount_of_units(1), currency="JPY"),
        ],
    )
    store_month(service, [build_line(cost=Decimal(1000))], month="2026-10")

    text = service.http.get(f"{PATH}/2026-09", headers=service.root()).text
    plain = service.http.get(f"{PATH}/2026-10", headers=service.root()).text

    assert '"cost":9999999999999999.9999999999999999999999,' in text
    assert '"cost":1000,' in plain
    assert {row["cost"] for row in get_costs(service)["rows"]} == {
        amount_of_units(LARGEST_UNITS),
        amount_of_units(1),
    }


def test_currencies_are_summed_separately(service: Service) -> None:
    store_month(service, [build_line(), build_line(currency="JPY"), build_line(currency="JPY")])

    answer = get_costs(service, "?by=service")

    assert [(row["currency"], row["lines"]) for row in answer["rows"]] == [("JPY", 2), ("USD", 1)]
    assert [row["currency"] for row in answer["totals"]] == ["JPY", "USD"]


def test_a_row_has_the_fields_of_the_grouping(service: Service) -> None:
    store_month(service, [build_line(tags=[("user:team", "a")])])

    for by, fields in {
        "account": ["customer_id", "company_id"],
        "service": ["service", "marketplace"],
        "tag:user:team": ["tag_value"],
        "line_type": ["line_type", "kind"],
        "day": ["day"],
        "line_type,account": ["customer_id", "company_id", "line_type", "kind"],
    }.items():
        (row,) = get_costs(service, f"?by={by}")["rows"]
        assert list(row) == ["vendor", *fields, "currency", "cost", "lines"], by


def test_days_are_the_days_of_usage(service: Service) -> None:
    later = MIDNIGHT + timedelta(days=2, hours=5)
    store_month(
        service, [build_line(), build_line(usage_start=later), build_line(usage_start=later)]
    )

    rows = get_costs(service, "?by=day")["rows"]

    assert [(row["day"], row["lines"]) for row in rows] == [("2026-09-01", 1), ("2026-09-03", 2)]


def test_untagged_lines_have_their_own_row(service: Service) -> None:
    tagged = [
        build_line(tags=[("k", "v"), ("other", "x")], cost=Decimal(2)),
        build_line(tags=[("k", "")]),
    ]
    store_month(service, [*tagged, build_line(cost=Decimal(5)), build_line(tags=[("K", "v")])])

    rows = get_costs(service, "?by=tag:k")["rows"]

    assert [(row["tag_value"], row["cost"], row["lines"]) for row in rows] == [
        ("", Decimal("1.5"), 1),
        ("v", Decimal(2), 1),
        (None, Decimal("6.5"), 2),
    ]


def test_a_comma_in_a_tag_key_is_escaped(service: Service) -> None:
    store_month(service, [build_line(tags=[("a,b", "v")])])

    (row,) = get_costs(service, r"?by=account,tag:a\,b")["rows"]

    assert (row["customer_id"], row["tag_value"]) == (ACCOUNT, "v")


def test_rows_of_any_grouping_add_up_to_the_totals(service: Service) -> None:
    store_month(service, generate_month(11, 300))
    tags = ("tag:user:Team", "tag:,account", "tag:nobody", "tag: ", "day,tag:user:Team")

    for by in ("account", "service,line_type", "day", *tags):
        answer = get_costs(service, f"?by={by}")
        for total in answer["totals"]:
            rows = [row for row in answer["rows"] if row["currency"] == total["currency"]]
            assert sum(Fraction(row["cost"]) for row in rows) == Fraction(total["cost"]), by
            assert sum(row["lines"] for row in rows) == total["lines"], by
        assert len(answer["totals"]) == 2


@pytest.mark.parametrize(
    "by",
    [
        "",
        "nobody",
        "account,",
        "account,account",
        "tag:a,tag:a",
        "tag:a,tag:b,tag:c",
        "Account",
        "tag",
    ],
)
def test_an_invalid_grouping_is_refused(by: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_grouping(by)

    assert [violation.field for violation in refused.value.violations] == ["by"]


def test_invalid_parameters_are_refused(service: Service) -> None:
    months = ("2026-13", "2026-9", "202609", "0000-01", "2026-09-01", "x")

    for path in (*months, "2026-09?vendor=oci"):
        read_problem(service.http.get(f"{PATH}/{path}", headers=service.root()), 400)
    answer = service.http.get(f"{PATH}/2026-09?by=nobody", headers=service.root())
    assert [field for field, _ in read_violations(answer)] == ["by"]


def test_costs_of_all_vendors_or_of_one(service: Service) -> None:
    store_month(service, [build_line()])
    store_month(service, [build_line(customer_id="a" * 36)], vendor="azure")

    all_vendors, azure = get_costs(service), get_costs(service, "?vendor=azure")

    assert [row["vendor"] for row in all_vendors["rows"]] == ["aws", "azure"]
    assert [row["vendor"] for row in all_vendors["totals"]] == ["aws", "azure"]
    assert [row["vendor"] for row in azure["rows"]] == ["azure"]
    assert azure["vendor"] == "azure"


def test_other_months_and_organisations_are_not_included(service: Service) -> None:
    other = service.new_organisation()
    store_month(service, [build_line()], month="2026-08")
    store_month(service, [build_line()], organisation=other)

    assert get_costs(service)["totals"] == []
    assert get_costs(service, headers=service.root(other))["totals"] != []


def test_a_second_import_replaces_the_month(service: Service) -> None:
    store_month(service, [build_line(tags=[("k", "v")]), build_line(service="AmazonS3")])

    store_month(service, [build_line(cost=Decimal(7))])

    assert [row["cost"] for row in get_costs(service)["rows"]] == [Decimal(7)]
    assert [row["tag_value"] for row in get_costs(service, "?by=tag:k")["rows"]] == [None]


def test_an_import_does_not_change_the_month_of_another_payer(service: Service) -> None:
    store_month(service, [build_line(cost=Decimal(1))])

    store_month(service, [build_line(payer_id="000000000001", cost=Decimal(2))])

    assert get_costs(service)["totals"][0]["cost"] == Decimal(3)


# ── restricted users ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def restricted(service: Service) -> dict[str, str]:
    """Headers of a user who sees one of two billing groups."""
    visible = create_billing_group(service, service.root(), billinggroup_id="BG-1")
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    add_account(service, visible, customer_id=ACCOUNT)
    add_account(service, other, customer_id=OTHER)
    return service.caller(RoleAction.ReadCost, billing_groups=[visible])


def test_restricted_users_see_only_lines_of_their_groups(
    service: Service, restricted: dict[str, str]
) -> None:
    tags = [("k", "v")]
    hidden = [
        build_line(customer_id=OTHER, tags=tags),
        build_line(customer_id="000000000009", tags=tags),
    ]
    store_month(service, [build_line(tags=tags), *hidden])

    for by in (
        "account",
        "service",
        "day",
        "tag:k",
        "tag:none",
        "line_type",
        "tag:k,tag:j",
        "tag:k,day",
    ):
        answer = get_costs(service, f"?by={by}", restricted)
        assert [row["lines"] for row in answer["rows"]] == [1], by
        assert [row["lines"] for row in answer["totals"]] == [1], by


def test_unrestricted_users_see_lines_of_accounts_in_no_group(service: Service) -> None:
    store_month(service, [build_line(customer_id="000000000009")])

    (row,) = get_costs(service)["rows"]

    assert (row["customer_id"], row["company_id"]) == ("000000000009", None)


def test_an_account_of_another_vendor_gives_no_access(
    service: Service, restricted: dict[str, str]
) -> None:
    store_month(service, [build_line()], vendor="azure")

    assert get_costs(service, headers=restricted)["totals"] == []


# ── provisional and parked months ────────────────────────────────────────────────────────────────


def test_a_month_without_the_vendors_invoice_is_provisional(service: Service) -> None:
    store_month(service, [build_line()], provisional=True)
    store_month(service, [build_line()], vendor="azure")

    assert get_costs(service)["provisional"]
    assert not get_costs(service, "?vendor=azure")["provisional"]


def test_payers_without_visible_lines_do_not_make_a_month_provisional(
    service: Service, restricted: dict[str, str]
) -> None:
    store_month(service, [build_line(customer_id=OTHER, payer_id="000000000001")], provisional=True)
    store_month(service, [build_line()])

    assert not get_costs(service, headers=restricted)["provisional"]
    assert get_costs(service)["provisional"]


def test_a_parked_month_is_marked(service: Service) -> None:
    park_month(service, "imp_1", "2026-09")

    assert get_costs(service)["parked"]
    assert not get_costs(service, month="2026-10")["parked"]


def test_rows_are_paged_and_totals_are_complete(service: Service) -> None:
    store_month(service, [build_line(service=f"s{number}") for number in range(5)])

    page = get_costs(service, "?by=service&limit=2&offset=2")

    assert [row["service"] for row in page["rows"]] == ["s2", "s3"]
    assert [row["lines"] for row in page["totals"]] == [5]
