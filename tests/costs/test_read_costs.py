"""GET /m/core/costs/{month}"""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.costs.months import records as months
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from tests.answers import problem_of, violations_of
from tests.costs.generated_months import LARGEST, MIDNIGHT, cost_of, line, month
from tests.costs.kept_sums import keep_month
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.running_service import Service

PATH = "/m/core/costs"
ACCOUNT, OTHER = "011254002932", "000000000007"


def costs(service: Service, query: str = "", headers: Any = None, month: str = "2026-09") -> Any:
    answer = service.http.get(f"{PATH}/{month}{query}", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    return json.loads(answer.text, parse_float=Decimal, parse_int=Decimal)


def test_a_month_has_these_fields(service: Service) -> None:
    company_id = create_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id, customer_id=ACCOUNT)
    keep_month(service, [line(cost=Decimal("1.5")), line(cost=Decimal("-0.25"))])

    for action in (RoleAction.ReadCost, RoleAction.ModifyCost):
        assert costs(service, headers=service.caller(action)) == {
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


def test_a_month_nobody_imported_is_empty(service: Service) -> None:
    nothing = {"provisional": False, "parked": False, "rows": [], "totals": []}

    assert costs(service) == {"month": "2026-09", "vendor": None, **nothing}


def test_every_digit_is_shown_and_no_idle_zero(service: Service) -> None:
    keep_month(service, [line(cost=cost_of(LARGEST)), line(cost=cost_of(1), currency="JPY")])
    keep_month(service, [line(cost=Decimal(1000))], month="2026-10")

    text = service.http.get(f"{PATH}/2026-09", headers=service.root()).text
    plain = service.http.get(f"{PATH}/2026-10", headers=service.root()).text

    assert '"cost":9999999999999999.9999999999999999999999,' in text
    assert '"cost":1000,' in plain
    assert {row["cost"] for row in costs(service)["rows"]} == {cost_of(LARGEST), cost_of(1)}


def test_currencies_are_never_added_up(service: Service) -> None:
    keep_month(service, [line(), line(currency="JPY"), line(currency="JPY")])

    answer = costs(service, "?by=service")

    assert [(row["currency"], row["lines"]) for row in answer["rows"]] == [("JPY", 2), ("USD", 1)]
    assert [row["currency"] for row in answer["totals"]] == ["JPY", "USD"]


@pytest.mark.parametrize(
    ("by", "fields"),
    [
        ("account", ["customer_id", "company_id"]),
        ("service", ["service", "marketplace"]),
        ("tag:user:team", ["tag_value"]),
        ("line_type", ["line_type", "kind"]),
        ("day", ["day"]),
        ("line_type,account", ["customer_id", "company_id", "line_type", "kind"]),
    ],
)
def test_a_row_shows_what_was_asked_by_and_nothing_else(
    service: Service, by: str, fields: list[str]
) -> None:
    keep_month(service, [line(tags=[("user:team", "a")])])

    (row,) = costs(service, f"?by={by}")["rows"]

    assert list(row) == ["vendor", *fields, "currency", "cost", "lines"]


def test_days_are_those_of_the_use(service: Service) -> None:
    later = MIDNIGHT + timedelta(days=2, hours=5)
    keep_month(service, [line(), line(usage_start=later), line(usage_start=later)])

    rows = costs(service, "?by=day")["rows"]

    assert [(row["day"], row["lines"]) for row in rows] == [("2026-09-01", 1), ("2026-09-03", 2)]


def test_what_has_no_such_tag_is_shown_too(service: Service) -> None:
    tagged = [line(tags=[("k", "v"), ("other", "x")], cost=Decimal(2)), line(tags=[("k", "")])]
    keep_month(service, [*tagged, line(cost=Decimal(5)), line(tags=[("K", "v")])])

    rows = costs(service, "?by=tag:k")["rows"]

    assert [(row["tag_value"], row["cost"], row["lines"]) for row in rows] == [
        ("", Decimal("1.5"), 1),
        ("v", Decimal(2), 1),
        (None, Decimal("6.5"), 2),
    ]


def test_a_comma_inside_a_key_is_escaped(service: Service) -> None:
    keep_month(service, [line(tags=[("a,b", "v")])])

    (row,) = costs(service, r"?by=account,tag:a\,b")["rows"]

    assert (row["customer_id"], row["tag_value"]) == (ACCOUNT, "v")


@pytest.mark.parametrize(
    "by",
    ["account", "service,line_type", "day", "tag:user:Team", "tag:,account", "tag:nobody", "tag: "],
)
def test_rows_of_any_grouping_add_up_to_the_totals(service: Service, by: str) -> None:
    keep_month(service, month(11, 300))

    answer = costs(service, f"?by={by}")

    for total in answer["totals"]:
        mine = [row for row in answer["rows"] if row["currency"] == total["currency"]]
        assert sum(Fraction(row["cost"]) for row in mine) == Fraction(total["cost"])
        assert sum(row["lines"] for row in mine) == total["lines"]
    assert len(answer["totals"]) == 2


@pytest.mark.parametrize(
    "by",
    ["", "nobody", "account,", "account,account", "tag:a,tag:b", "day,tag:a", "Account", "tag"],
)
def test_any_other_word_is_refused(service: Service, by: str) -> None:
    answer = service.http.get(f"{PATH}/2026-09?by={by}", headers=service.root())

    assert [field for field, _ in violations_of(answer)] == ["by"]


@pytest.mark.parametrize("month", ["2026-13", "2026-9", "202609", "0000-01", "2026-09-01", "x"])
def test_what_is_no_month_is_refused(service: Service, month: str) -> None:
    problem_of(service.http.get(f"{PATH}/{month}", headers=service.root()), 400)


def test_an_unknown_vendor_is_refused(service: Service) -> None:
    problem_of(service.http.get(f"{PATH}/2026-09?vendor=oci", headers=service.root()), 400)


def test_vendors_stand_beside_each_other_or_alone(service: Service) -> None:
    keep_month(service, [line()])
    keep_month(service, [line(customer_id="a" * 36)], vendor="azure")

    both, alone = costs(service), costs(service, "?vendor=azure")

    assert [row["vendor"] for row in both["rows"]] == ["aws", "azure"]
    assert [row["vendor"] for row in both["totals"]] == ["aws", "azure"]
    assert [row["vendor"] for row in alone["rows"]] == ["azure"]
    assert alone["vendor"] == "azure"


def test_other_months_and_organisations_stay_out(service: Service) -> None:
    other = service.new_organisation()
    keep_month(service, [line()], month="2026-08")
    keep_month(service, [line()], organisation=other)

    assert costs(service)["totals"] == []
    assert costs(service, headers=service.root(other))["totals"] != []


def test_a_month_imported_again_is_replaced(service: Service) -> None:
    keep_month(service, [line(tags=[("k", "v")]), line(service="AmazonS3")])

    keep_month(service, [line(cost=Decimal(7))])

    assert [row["cost"] for row in costs(service)["rows"]] == [Decimal(7)]
    assert [row["tag_value"] for row in costs(service, "?by=tag:k")["rows"]] == [None]


def test_another_payer_keeps_its_month(service: Service) -> None:
    keep_month(service, [line(cost=Decimal(1))])

    keep_month(service, [line(payer_id="000000000001", cost=Decimal(2))])

    assert costs(service)["totals"][0]["cost"] == Decimal(3)


# ── who sees what ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def narrowed(service: Service) -> dict[str, str]:
    """Headers of somebody who sees one of two billing groups."""
    mine = create_group(service, service.root(), billinggroup_id="BG-1")
    other = create_group(service, service.root(), billinggroup_id="BG-2")
    add_account(service, mine, customer_id=ACCOUNT)
    add_account(service, other, customer_id=OTHER)
    return service.caller(RoleAction.ReadCost, billing_groups=[mine])


@pytest.mark.parametrize("by", ["account", "service", "day", "tag:k", "tag:none", "line_type"])
def test_a_narrowed_caller_sees_the_lines_of_its_groups_alone(
    service: Service, narrowed: dict[str, str], by: str
) -> None:
    tags = [("k", "v")]
    hidden = [line(customer_id=OTHER, tags=tags), line(customer_id="000000000009", tags=tags)]
    keep_month(service, [line(tags=tags), *hidden])

    answer = costs(service, f"?by={by}", narrowed)

    assert [row["lines"] for row in answer["rows"]] == [1]
    assert [row["lines"] for row in answer["totals"]] == [1]


def test_lines_of_accounts_in_no_group_are_for_those_who_see_everything(service: Service) -> None:
    keep_month(service, [line(customer_id="000000000009")])

    (row,) = costs(service)["rows"]

    assert (row["customer_id"], row["company_id"]) == ("000000000009", None)


def test_an_account_of_another_vendor_opens_nothing(
    service: Service, narrowed: dict[str, str]
) -> None:
    keep_month(service, [line()], vendor="azure")

    assert costs(service, headers=narrowed)["totals"] == []


# ── how sure it is ───────────────────────────────────────────────────────────────────────────────


def test_a_month_without_the_vendors_invoice_is_provisional(service: Service) -> None:
    keep_month(service, [line()], provisional=True)
    keep_month(service, [line()], vendor="azure")

    assert costs(service)["provisional"]
    assert not costs(service, "?vendor=azure")["provisional"]


def test_who_sees_nothing_of_a_payer_is_not_told_that_it_is_provisional(
    service: Service, narrowed: dict[str, str]
) -> None:
    keep_month(service, [line(customer_id=OTHER, payer_id="000000000001")], provisional=True)
    keep_month(service, [line()])

    assert not costs(service, headers=narrowed)["provisional"]
    assert costs(service)["provisional"]


def test_a_parked_month_says_so(service: Service) -> None:
    who = service.organisation.organisation_id

    async def park() -> None:
        async with transaction(service.resources.engine, who) as db:
            await months.park_month(
                db, TenantScope(who), BillingPeriod("2026-09", "aws"), "imp_1", "the sums differ"
            )

    service.run(park)

    assert costs(service)["parked"]
    assert not costs(service, month="2026-10")["parked"]


def test_long_answers_come_in_pages_and_totals_stay_whole(service: Service) -> None:
    keep_month(service, [line(service=f"s{number}") for number in range(5)])

    page = costs(service, "?by=service&limit=2&offset=2")

    assert [row["service"] for row in page["rows"]] == ["s2", "s3"]
    assert [row["lines"] for row in page["totals"]] == [5]
