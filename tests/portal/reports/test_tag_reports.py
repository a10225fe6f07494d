"""GET /m/portal/usage/report by one tag and by two tags"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from tests.customers.resellers.reseller_accounts import change_meta
from tests.invoicing.exports.export_requests import parse_rows
from tests.invoicing.month_end import MONTH
from tests.portal.portal_customer import PortalCustomer
from tests.portal.tags.tagged_customer import create_tagged_customer
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service

REPORT = "/m/portal/usage/report"


@pytest.fixture
def tagged(service: Service, tmp_path: Path) -> PortalCustomer:
    return create_tagged_customer(service, tmp_path)


def download(customer: PortalCustomer, **query: str) -> list[list[str]]:
    response = customer.service.http.get(
        REPORT, params={"month": MONTH, **query}, headers=customer.reseller.portal
    )
    assert response.status_code == 200, response.text
    return parse_rows(response.content)


def test_the_report_by_tag_has_a_row_for_each_value(tagged: PortalCustomer) -> None:
    page = tagged.get("/usage/tag", month=MONTH, key="Team")["rows"]

    header, *rows = download(tagged, by="tag", key="Team")

    assert header[2:4] == ["TagKey", "TagValue"]
    assert [row[3] for row in rows] == [row["tag_value"] or "" for row in page]
    assert [Decimal(row[7]) for row in rows] == [row["amount"] for row in page]
    assert {row[2] for row in rows} == {"Team"}
    assert {row[3] for row in rows} == {"", "blue", "red"}


def test_the_report_by_two_tags_has_a_row_for_each_pair(tagged: PortalCustomer) -> None:
    header, *rows = download(tagged, by="crosstag", keys="Team,Stage")

    assert header[2:6] == ["TagKey1", "TagValue1", "TagKey2", "TagValue2"]
    assert {(row[3], row[5]) for row in rows} == {
        ("", ""),
        ("blue", "prod"),
        ("red", ""),
        ("red", "prod"),
        ("red", "test"),
    }


@pytest.mark.parametrize(
    ("query", "field"), [({"by": "tag"}, "key"), ({"by": "crosstag", "keys": "a"}, "keys")]
)
def test_a_report_by_tag_needs_its_keys(
    customer: PortalCustomer, query: dict[str, str], field: str
) -> None:
    response = customer.service.http.get(REPORT, params=query, headers=customer.reseller.portal)

    assert [name for name, _ in read_violations(response)] == [field]


@pytest.mark.parametrize(
    ("by", "flag"),
    [("group", "usage_group"), ("tag", "usage_tag"), ("crosstag", "usage_crosstag")],
)
def test_a_report_needs_the_flag_of_its_page_too(
    customer: PortalCustomer, by: str, flag: str
) -> None:
    change_meta(customer.service, customer.reseller.user_id, **{flag: False})

    response = customer.service.http.get(
        REPORT, params={"by": by}, headers=customer.reseller.portal
    )

    assert flag in read_problem(response, 403)["detail"]
