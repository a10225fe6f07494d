"""HTTP routes of budgets and their alerts; paths are relative to /m/portal."""

from litestar.params import JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, get, put
from nimbill.portal.budgets import operations
from nimbill.portal.budgets.bodies import (
    AlertSettings,
    Budgets,
    BudgetsChange,
    BudgetStates,
    CompanyAlertSettings,
)
from nimbill.portal.budgets.operations import load_budgets_version
from nimbill.portal.one_company import load_one_company
from nimbill.portal.report_months import current_day
from nimbill.portal.report_parameters import OneCompanyId


@get(
    "/budgets",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadBudget],
    flag="usage_account_menu_budget",
    basis=chosen("portal-budgets"),
    versioned=load_budgets_version,
)
async def read_budgets(
    caller: RequestCaller, db: Transaction, company_id: OneCompanyId = None
) -> BudgetStates:
    """Show the budgets with what was used in the current month and its forecast."""
    company = await load_one_company(db, caller, company_id)
    return await operations.load_states(db, company, current_day())


@put(
    "/budgets",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ModifyBudget],
    flag="usage_account_menu_budget_edit",
    basis=chosen("portal-budgets"),
    versioned=load_budgets_version,
    audited="budgets/{company_id}",
)
async def change_budgets(
    data: JSONBody[BudgetsChange],
    caller: RequestCaller,
    db: Transaction,
    company_id: OneCompanyId = None,
) -> Budgets:
    """Replace the list of budgets."""
    company = await load_one_company(db, caller, company_id)
    return await operations.replace_budgets(db, company, data)


@get(
    "/budgets/alerts",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadBudget],
    flag="budgetalerts",
    basis=chosen("portal-budget-alerts"),
)
async def read_budget_alerts(
    caller: RequestCaller, db: Transaction, company_id: OneCompanyId = None
) -> CompanyAlertSettings:
    """Show who receives budget alerts."""
    company = await load_one_company(db, caller, company_id)
    return await operations.load_alerts(db, company)


@put(
    "/budgets/alerts",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ModifyBudget],
    flag="budgetalerts",
    basis=chosen("portal-budget-alerts"),
    audited="budgets/{company_id}/alerts",
)
async def change_budget_alerts(
    data: JSONBody[AlertSettings],
    caller: RequestCaller,
    db: Transaction,
    company_id: OneCompanyId = None,
) -> CompanyAlertSettings:
    """Replace the recipients of budget alerts and their language, and turn alerts on or off."""
    company = await load_one_company(db, caller, company_id)
    return await operations.replace_alerts(db, company, data)


ROUTES = [read_budgets, change_budgets, read_budget_alerts, change_budget_alerts]
