"""Request and response bodies of budgets. All amounts are at the customer's price."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.foundation.language import Language
from nimbill.http.request_bodies import Body, text_length
from nimbill.portal.budgets.budget_rules import find_alert_violations, find_budget_violations
from nimbill.portal.usage.bodies import UnpricedUsage

NAME = text_length(1, 100)
TARGET_ID = text_length(0, 400)


class BudgetTarget(StrEnum):
    company = "company"
    account = "account"
    group = "group"
    tag = "tag"


class ThresholdBase(StrEnum):
    """What a threshold is compared with: what was used so far, or what the month will cost."""

    actual = "actual"
    forecast = "forecast"


class Threshold(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-budgets")

    percent: int
    of: ThresholdBase


class BudgetChange(Body, frozen=True, kw_only=True):
    """A budget in a request. With `budget_id` it replaces a budget, without it is a new one.

    `target_id` is a customer_id, a group_id or KEY=VALUE, and absent for the whole company.
    """

    basis: ClassVar[Basis] = chosen("portal-budgets")

    budget_id: str | None = None
    name: Annotated[str, NAME]
    target: BudgetTarget
    target_id: Annotated[str, TARGET_ID] | None = None
    amount: Decimal
    currency: Currency | None = None
    thresholds: list[Threshold]


class BudgetsChange(Body, frozen=True, kw_only=True):
    """All budgets of the company; those that are not in the list are deleted."""

    basis: ClassVar[Basis] = chosen("portal-budgets")

    budgets: list[BudgetChange]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from find_budget_violations(sent.get("budgets"))


class Budget(Body, frozen=True, kw_only=True):
    """A stored budget for every calendar month."""

    basis: ClassVar[Basis] = chosen("portal-budgets")

    budget_id: str
    name: str
    target: BudgetTarget
    target_id: str | None
    amount: Decimal
    currency: Currency
    thresholds: list[Threshold]


class Budgets(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-budgets")

    company_id: str
    budgets: list[Budget]


class BudgetState(Body, frozen=True, kw_only=True):
    """A budget and its month. Percentages are cut off after one decimal."""

    basis: ClassVar[Basis] = chosen("portal-budgets")

    budget_id: str
    name: str
    target: BudgetTarget
    target_id: str | None
    amount: Decimal
    currency: Currency
    thresholds: list[Threshold]
    actual: Decimal
    percent: Decimal
    forecast: Decimal | None
    forecast_percent: Decimal | None


class BudgetStates(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-budgets")

    company_id: str
    month: str
    budgets: list[BudgetState]
    unpriced: list[UnpricedUsage]


class AlertSettings(Body, frozen=True, kw_only=True):
    """Who receives a mail when a threshold is passed."""

    basis: ClassVar[Basis] = chosen("portal-budget-alerts")

    enabled: bool
    recipients: list[str]
    language: Language | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from find_alert_violations(sent)


class CompanyAlertSettings(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-budget-alerts")

    company_id: str
    enabled: bool
    recipients: list[str]
    language: Language | None
