"""GET /m/portal/anomalies"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.customers.resellers.reseller_accounts import change_meta
from tests.portal.daily_costs import FIRST, MONTH, PEAK, SECOND, YEN_PER_DOLLAR
from tests.portal.portal_customer import DISCOUNT, PortalCustomer, filter_accounts
from tests.problem_responses import read_problem, read_violations

ANOMALIES = "/anomalies"


def test_a_day_far_above_the_median_is_listed_with_its_figures(
    daily_customer: PortalCustomer,
) -> None:
    body = daily_customer.get(ANOMALIES, month=MONTH)

    median = 10 * YEN_PER_DOLLAR
    score = Decimal("0.6745") * 30 * YEN_PER_DOLLAR / (median / 100)
    assert body == {
        "company_id": daily_customer.company_id,
        "month": MONTH,
        "anomalies": [
            {
                "day": PEAK.isoformat(),
                "vendor": "aws",
                "customer_id": FIRST,
                "customer_name": f"account {FIRST}",
                "service": "AmazonEC2",
                "marketplace": False,
                "currency": "jpy",
                "value": 40 * YEN_PER_DOLLAR,
                "median": median,
                "mad": 0,
                "score": score.quantize(Decimal("0.01")),
                "cause": "usage",
            }
        ],
        "unpriced": [],
    }


def test_the_current_month_is_the_default(daily_customer: PortalCustomer) -> None:
    assert daily_customer.get(ANOMALIES) == daily_customer.get(ANOMALIES, month=MONTH)


def test_a_month_without_peaks_has_no_anomalies(daily_customer: PortalCustomer) -> None:
    assert daily_customer.get(ANOMALIES, month="2026-08")["anomalies"] == []
    assert daily_customer.get(ANOMALIES, month="0001-01")["anomalies"] == []


def test_a_filter_on_accounts_restricts_the_anomalies(daily_customer: PortalCustomer) -> None:
    headers = daily_customer.create_subuser("watcher", ["ReadAccount"], [filter_accounts(SECOND)])

    assert daily_customer.get(ANOMALIES, headers, month=MONTH)["anomalies"] == []


@pytest.fixture
def dearer_customer(daily_customer: PortalCustomer) -> Iterator[PortalCustomer]:
    """Since September a dollar costs three times as much."""
    month_end = daily_customer.month_end
    usual_month = month_end.month
    try:
        for month, rate in (("2026-07", 150), ("2026-08", 150), (MONTH, 450)):
            month_end.month = month
            settings = month_end.save_settings(
                daily_customer.company_id, discount_rate=Decimal(DISCOUNT)
            )
            saved = month_end.save_rate(daily_customer.company_id, rate=rate)
            assert (settings.status_code, saved.status_code) == (200, 200), saved.text
        yield daily_customer
    finally:
        month_end.month = usual_month
        restored = month_end.save_rate(daily_customer.company_id, rate=150)
        assert restored.status_code == 200, restored.text


def test_a_new_price_is_told_from_new_usage(dearer_customer: PortalCustomer) -> None:
    anomalies = dearer_customer.get(ANOMALIES, month=MONTH)["anomalies"]

    causes = {(each["customer_id"], each["day"]): each["cause"] for each in anomalies}
    assert causes[FIRST, "2026-09-01"] == "price"
    assert causes[SECOND, "2026-09-01"] == "price"
    assert causes[FIRST, PEAK.isoformat()] == "usage"


def test_a_wrong_month_is_refused_by_name(customer: PortalCustomer) -> None:
    response = customer.service.http.get(
        f"/m/portal{ANOMALIES}", params={"month": "2026-13"}, headers=customer.reseller.portal
    )

    assert [name for name, _ in read_violations(response)] == ["month"]


def test_the_flag_of_usage_applies(customer: PortalCustomer) -> None:
    change_meta(customer.service, customer.reseller.user_id, usage_account=False)

    response = customer.service.http.get(f"/m/portal{ANOMALIES}", headers=customer.reseller.portal)

    assert read_problem(response, 403)["code"] == "flag_off"
