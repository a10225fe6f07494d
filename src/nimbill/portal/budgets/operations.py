"""Reads and replaces the budgets of a company: the checks in order, then the change."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.http.object_version import ObjectVersion
from nimbill.portal.budgets import records
from nimbill.portal.budgets.bodies import (
    AlertSettings,
    Budget,
    BudgetChange,
    Budgets,
    BudgetsChange,
    BudgetStates,
    BudgetTarget,
    CompanyAlertSettings,
)
from nimbill.portal.budgets.budget_rules import AMOUNT_RULE, is_whole_amount
from nimbill.portal.budgets.states import build_state, compare_budgets
from nimbill.portal.one_company import CompanyView, load_one_company
from nimbill.portal.report_basis import ReportBasis
from nimbill.portal.usage.bodies import list_unpriced
from nimbill.portal.view import PortalView, require_unfiltered

TARGET_RULES = {
    BudgetTarget.account: "an account of this company",
    BudgetTarget.group: "an account group of this company",
}


async def load_states(
    db: AsyncConnection,
    company: CompanyView,
    today: date,
    *,
    report_basis: ReportBasis | None = None,
) -> BudgetStates:
    """Compare the visible budgets with the current month."""
    company_id, view = company
    month = f"{today:%Y-%m}"
    budgets = await records.list_budgets(db, view.scope, company_id)
    visible = [budget for budget in budgets if _is_visible(view, budget)]
    compared = await compare_budgets(db, view, visible, month, today, report_basis=report_basis)
    return BudgetStates(
        company_id=company_id,
        month=month,
        budgets=[build_state(each) for each in compared.months],
        unpriced=list_unpriced(compared.unpriced),
    )


def _is_visible(view: PortalView, budget: Budget) -> bool:
    """A user with filters sees the budgets of its accounts, and none with a filter on tags."""
    if not view.is_filtered:
        return True
    is_own_account = budget.target is BudgetTarget.account and any(
        key.customer_id == budget.target_id for key in view.accounts
    )
    return is_own_account and not view.tags


async def replace_budgets(
    db: AsyncConnection, company: CompanyView, body: BudgetsChange
) -> Budgets:
    """Store the list. Unknown budgets, targets and currencies are refused."""
    company_id, view = company
    require_unfiltered(view)
    stored = await records.list_budgets(db, view.scope, company_id)
    currencies = await records.list_company_currencies(db, view.scope, company_id)
    targets = {
        BudgetTarget.account: {key.customer_id for key in view.accounts},
        BudgetTarget.group: await records.list_group_ids(db, view.scope, company_id),
    }
    known_ids = {budget.budget_id for budget in stored}
    violations: list[Violation] = []
    for index, sent in enumerate(body.budgets):
        path = f"budgets[{index}]"
        if sent.budget_id is not None and sent.budget_id not in known_ids:
            violations.append(Violation(f"{path}.budget_id", "an existing budget, or absent"))
        if sent.target in targets and sent.target_id not in targets[sent.target]:
            violations.append(Violation(f"{path}.target_id", TARGET_RULES[sent.target]))
        violations += _find_currency_violations(sent, currencies, path)
    refuse_if(violations)
    budgets = [_build_budget(sent, currencies) for sent in body.budgets]
    await records.store_budgets(db, view.scope, company_id, budgets)
    return Budgets(company_id=company_id, budgets=budgets)


def _find_currency_violations(
    sent: BudgetChange, currencies: Sequence[Currency], path: str
) -> Iterator[Violation]:
    if sent.currency is None and len(currencies) != 1:
        yield Violation(f"{path}.currency", "required unless all invoices have the same currency")
        return
    if sent.currency is not None and currencies and sent.currency not in currencies:
        yield Violation(f"{path}.currency", f"one of {', '.join(currencies)}, as on invoices")
    if not is_whole_amount(sent.amount, sent.currency or currencies[0]):
        yield Violation(f"{path}.amount", AMOUNT_RULE)


def _build_budget(sent: BudgetChange, currencies: Sequence[Currency]) -> Budget:
    return Budget(
        budget_id=sent.budget_id or new_id("bud"),
        name=sent.name,
        target=sent.target,
        target_id=sent.target_id or None,
        amount=sent.amount,
        currency=sent.currency or currencies[0],
        thresholds=sent.thresholds,
    )


async def load_alerts(db: AsyncConnection, company: CompanyView) -> CompanyAlertSettings:
    require_unfiltered(company.view)
    settings = await records.load_alert_settings(db, company.view.scope, company.company_id)
    return _build_alerts(company.company_id, settings)


async def replace_alerts(
    db: AsyncConnection, company: CompanyView, settings: AlertSettings
) -> CompanyAlertSettings:
    require_unfiltered(company.view)
    await records.store_alert_settings(db, company.view.scope, company.company_id, settings)
    return _build_alerts(company.company_id, settings)


def _build_alerts(company_id: str, settings: AlertSettings) -> CompanyAlertSettings:
    return CompanyAlertSettings(
        company_id=company_id,
        enabled=settings.enabled,
        recipients=settings.recipients,
        language=settings.language,
    )


# See docs/choices.md, object-versions.


async def load_budgets_version(
    db: AsyncConnection, caller: Caller, parameters: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    """None for a user with filters, who sees a part of the list and cannot change it."""
    company_id, view = await load_one_company(db, caller, parameters.get("company_id"))
    if view.is_filtered:
        return None
    load = records.lock_budgets if lock else records.list_budgets
    return ObjectVersion(await load(db, view.scope, company_id), f"budgets/{company_id}")
