"""Mails about budgets: one per budget, threshold and month, after imports of recent months."""

from __future__ import annotations

import time
from datetime import date
from email import message_from_bytes, policy
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa

from nimbill.customers.billing_groups.records import billing_groups
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.mail.mailer import outbox_folder
from nimbill.mail.messages import Message
from nimbill.portal.budgets import evaluation
from nimbill.portal.budgets.evaluation import is_alerted_month
from nimbill.portal.view import load_company_view
from tests.customers.resellers.reseller_accounts import create_reseller
from tests.portal.budgets.budget_requests import COMPANY_BUDGET, store_alerts, store_budgets
from tests.portal.budgets.evaluated_budgets import evaluate
from tests.portal.daily_costs import FIRST, TODAY, build_line, fix_today
from tests.portal.portal_customer import ALL_FLAGS, PortalCustomer

SECONDS_MAX = 60
# 28,687.5 yen were used, 55,687.5 are expected
PASSED, NOT_PASSED = {"percent": 57, "of": "actual"}, {"percent": 58, "of": "actual"}
EXPECTED = {"percent": 111, "of": "forecast"}


def test_a_threshold_that_was_passed_is_mailed_to_every_recipient(
    daily_customer: PortalCustomer,
) -> None:
    store_budgets(daily_customer, COMPANY_BUDGET | {"thresholds": [PASSED, NOT_PASSED]})
    store_alerts(daily_customer, "a@example.com", "b@example.com")

    messages = evaluate(daily_customer)

    assert [message.to for message in messages] == ["a@example.com", "b@example.com"]
    assert messages[0].subject == "Budget alert: everything (57%)"
    assert "the usage of September 2026 has reached 57% of the budget" in messages[0].text
    assert "Budget: ¥50,000\nAmount: ¥28,688\n" in messages[0].text


def test_a_forecast_is_mailed_as_such(daily_customer: PortalCustomer) -> None:
    store_budgets(daily_customer, COMPANY_BUDGET | {"thresholds": [EXPECTED]})
    store_alerts(daily_customer, "a@example.com", language="ja")

    (message,) = evaluate(daily_customer)

    assert message.subject == "予算アラート: everything (111%)"
    assert "2026年9月の予測額が、予算「everything」の 111% に達しました。" in message.text
    assert "予算: ¥50,000\n予測額: ¥55,688\n" in message.text


def test_a_threshold_is_mailed_once_a_month(daily_customer: PortalCustomer) -> None:
    (budget,) = store_budgets(daily_customer, COMPANY_BUDGET | {"thresholds": [PASSED]})
    store_alerts(daily_customer, "a@example.com")

    first, again = evaluate(daily_customer), evaluate(daily_customer)
    store_budgets(daily_customer, budget | {"name": "new", "thresholds": [PASSED, EXPECTED]})
    changed = evaluate(daily_customer)
    last_month = evaluate(daily_customer, "2026-08")

    assert (len(first), again) == (1, [])
    assert [message.subject for message in changed] == ["Budget alert: new (111%)"]
    assert len(last_month) == 1  # August cost 104 % of the budget: a month of its own


def test_a_failed_attempt_is_repeated_completely(daily_customer: PortalCustomer) -> None:
    store_budgets(daily_customer, COMPANY_BUDGET | {"thresholds": [PASSED, EXPECTED]})
    store_alerts(daily_customer, "a@example.com")

    def fail_at_forecast(message: Message) -> None:
        if "111%" in message.subject:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        evaluate(daily_customer, on_message=fail_at_forecast)

    assert len(evaluate(daily_customer)) == 2


def test_alerts_that_are_off_send_nothing_until_they_are_on(
    daily_customer: PortalCustomer,
) -> None:
    store_budgets(daily_customer, COMPANY_BUDGET | {"thresholds": [PASSED]})
    store_alerts(daily_customer, "a@example.com", enabled=False)
    assert evaluate(daily_customer) == []

    store_alerts(daily_customer, "a@example.com")

    assert len(evaluate(daily_customer)) == 1


@pytest.mark.parametrize(
    ("of_alerts", "of_group", "word"),
    [
        (None, None, "利用額"),  # the language of the organisation is Japanese
        (None, "en", "usage"),
        ("ja", "en", "利用額"),
    ],
)
def test_the_language_is_that_of_the_alerts_or_the_group_or_the_organisation(
    daily_customer: PortalCustomer, of_alerts: str | None, of_group: str | None, word: str
) -> None:
    store_budgets(daily_customer, COMPANY_BUDGET | {"thresholds": [PASSED]})
    store_alerts(daily_customer, "a@example.com", language=of_alerts)
    set_group_language(daily_customer, of_group)

    (message,) = evaluate(daily_customer)

    assert word in message.text


def set_group_language(customer: PortalCustomer, language: str | None) -> None:
    service = customer.service

    async def change() -> None:
        organisation_id = service.organisation.organisation_id
        async with transaction(service.resources.engine, organisation_id) as db:
            await db.execute(sa.update(billing_groups).values(language=language))

    service.run(change)


def test_a_name_cannot_add_lines_to_the_mail(daily_customer: PortalCustomer) -> None:
    budget = COMPANY_BUDGET | {"name": "a\r\nBcc: x {to}", "thresholds": [PASSED]}
    store_budgets(daily_customer, budget)
    store_alerts(daily_customer, "a@example.com")

    (message,) = evaluate(daily_customer)

    assert message.subject == "Budget alert: a Bcc: x {to} (57%)"


@pytest.mark.parametrize(
    ("month", "is_alerted"),
    [("2026-09", True), ("2026-08", True), ("2026-07", False), ("2026-10", False)],
)
def test_only_the_current_month_and_the_one_before_are_mailed(
    daily_customer: PortalCustomer, month: str, is_alerted: bool
) -> None:
    assert is_alerted_month(month, TODAY) is is_alerted
    if not is_alerted:
        store_budgets(daily_customer, COMPANY_BUDGET | {"amount": 1, "thresholds": [PASSED]})
        store_alerts(daily_customer, "a@example.com")
        assert evaluate(daily_customer, month) == []


def test_an_import_mails_although_the_budgets_of_another_company_fail(
    customer: PortalCustomer,
) -> None:
    service, month_end = customer.service, customer.month_end
    other_id = month_end.create_group("BG-2", "333333333333")
    other = create_reseller(service, other_id, email="other@example.com", meta=ALL_FLAGS)
    other_customer = PortalCustomer(month_end, other_id, other)
    for each in (customer, other_customer):
        budget = COMPANY_BUDGET | {"amount": 100, "currency": "jpy", "thresholds": [PASSED]}
        store_budgets(each, budget)
        store_alerts(each, "a@example.com")
    month_end.prepare_groups(customer.company_id)

    async def load_own_view(db: Any, scope: Any, company_id: str) -> Any:
        if company_id == other_id:
            raise ConnectionError
        return await load_company_view(db, scope, company_id)

    with fix_today(), patch.object(evaluation, "load_company_view", load_own_view):
        month_end.import_costs(build_line(date(2026, 9, 15), "10", FIRST, "AmazonEC2"))
        mail = wait_for_mail(customer)

    assert mail["to"] == "a@example.com"
    assert mail["subject"] == "Budget alert: everything (57%)"


def wait_for_mail(customer: PortalCustomer) -> Any:
    """Return the first mail as soon as the jobs have delivered it."""
    scope = TenantScope(customer.service.organisation.organisation_id)
    folder = outbox_folder(customer.service.settings, scope)
    deadline = time.monotonic() + SECONDS_MAX
    while not (files := list(folder.glob("*.eml"))):
        assert time.monotonic() < deadline, "no mail"
        time.sleep(0.05)
    return message_from_bytes(files[0].read_bytes(), policy=policy.default)
