"""GET /m/core/costs/{month}: two tags, or a tag and days, from the cost lines"""

from __future__ import annotations

import tempfile
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from nimbill.costs.lake import line_queries
from nimbill.costs.lake.parquet_files import Lake
from nimbill.identity.organisations.operations import NewOrganisation
from tests.costs.generated_months import LARGEST_UNITS, MIDNIGHT, amount_of_units, build_line
from tests.costs.stored_months import store_month
from tests.costs.test_read_costs import ACCOUNT, PATH, get_costs
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service

LARGEST = amount_of_units(LARGEST_UNITS)


@pytest.fixture(scope="module")
def stored(running: Service) -> NewOrganisation:
    """A month of two vendors, whose second import of aws replaced the first."""
    running.organisation = running.new_organisation()
    company_id = create_billing_group(running, running.root(), billinggroup_id="BG")
    add_account(running, company_id, customer_id=ACCOUNT)
    store_month(running, [build_line(cost=Decimal(1000), tags=[("team", "old")])])
    later = MIDNIGHT + timedelta(days=1)
    store_month(
        running,
        [
            build_line(cost=Decimal("1.50"), tags=[("team", "a"), ("env", "x")]),
            build_line(cost=Decimal("0.25"), tags=[("team", "a"), ("env", "x")]),
            build_line(cost=Decimal(-2), tags=[("team", "a")], usage_start=later),
            build_line(cost=Decimal(4), tags=[("env", "")], usage_start=later),
            build_line(cost=Decimal(8)),
        ],
    )
    store_month(
        running,
        [
            build_line(customer_id="a" * 36, cost=LARGEST, tags=[("team", "b")]),
            build_line(customer_id="a" * 36, cost=LARGEST, tags=[("team", "b")]),
        ],
        vendor="azure",
    )
    return running.organisation


@pytest.fixture
def service(running: Service, stored: NewOrganisation) -> Service:
    running.organisation = stored
    return running


def pick(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_two_tags_are_combined(service: Service) -> None:
    answer = get_costs(service, "?by=tag:team,tag:env&vendor=aws")

    assert pick(answer["rows"], "tag_value", "tag_value_2", "cost", "lines") == [
        ("a", "x", Decimal("1.75"), 2),
        ("a", None, Decimal(-2), 1),
        (None, "", Decimal(4), 1),
        (None, None, Decimal(8), 1),
    ]
    assert [total["cost"] for total in answer["totals"]] == [Decimal("11.75")]


def test_a_tag_is_combined_with_days(service: Service) -> None:
    rows = get_costs(service, "?by=day,tag:team&vendor=aws")["rows"]

    assert pick(rows, "day", "tag_value", "cost") == [
        ("2026-09-01", "a", Decimal("1.75")),
        ("2026-09-01", None, Decimal(8)),
        ("2026-09-02", "a", Decimal(-2)),
        ("2026-09-02", None, Decimal(4)),
    ]


def test_accounts_have_their_billing_group_and_sums_all_their_digits(service: Service) -> None:
    rows = get_costs(service, "?by=account,tag:team,tag:nobody")["rows"]

    assert [row["vendor"] for row in rows] == ["aws", "aws", "azure"]
    assert rows[0]["company_id"].startswith("cmp_")
    assert rows[2]["company_id"] is None
    assert rows[2]["cost"] == Decimal("19999999999999999.9999999999999999999998")
    assert list(rows[0]) == [
        *("vendor", "customer_id", "company_id", "tag_value", "tag_value_2"),
        *("currency", "cost", "lines"),
    ]


def test_pages_select_rows_and_keep_the_totals(service: Service) -> None:
    answer = get_costs(service, "?by=tag:team,tag:env&vendor=aws&limit=2&offset=1")

    assert pick(answer["rows"], "tag_value", "tag_value_2") == [("a", None), (None, "")]
    assert [total["lines"] for total in answer["totals"]] == [5]


def test_too_many_rows_are_refused(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_queries, "ROWS_MAX", 3)

    response = service.http.get(
        f"{PATH}/2026-09?by=tag:team,tag:env&vendor=aws", headers=service.root()
    )

    assert read_violations(response) == [
        ("by", "a grouping with at most 3 rows; choose fewer dimensions, or one vendor")
    ]


def test_a_month_without_imports_has_no_rows(service: Service) -> None:
    assert get_costs(service, "?by=tag:a,day", month="2026-01")["rows"] == []


@pytest.mark.parametrize(("place", "name"), [(Lake, "addresses"), (tempfile, "mkdtemp")])
def test_unreadable_lines_are_unavailable(
    service: Service, monkeypatch: pytest.MonkeyPatch, place: object, name: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("canary")

    monkeypatch.setattr(place, name, fail)

    response = service.http.get(f"{PATH}/2026-09?by=tag:team,day", headers=service.root())

    assert read_problem(response, 503)["code"] == "cost_lines_unavailable"
    assert response.headers["retry-after"] == "60"
