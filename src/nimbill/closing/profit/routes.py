"""Profit of projects and customers over HTTP; paths are relative to /m/core."""

from typing import Annotated

from litestar.params import FromPath, QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.closing.profit import customer_history, project_csv, project_profits
from nimbill.closing.profit.bodies import CustomerHistory, ExportData, ProjectProfit
from nimbill.foundation.basis import chosen
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, WorkerResources, get

MonthCount = Annotated[
    int, QueryParameter(ge=1, le=120, description="a whole number from 1 to 120")
]


@get(
    "/project/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadProject, RoleAction.ModifyProject],
    basis=chosen("project-months"),
)
async def list_projects_of_month(
    month: PathMonth, caller: RequestCaller, db: Transaction
) -> list[ProjectProfit]:
    """List every project with its vendor cost, sales and profit in a month."""
    return await project_profits.list_project_profits(db, caller.scope, month)


@get(
    "/project/{month:str}/csv",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadProject, RoleAction.ModifyProject],
    basis=chosen("project-months"),
    tags=["Exports"],
)
async def export_projects_of_month(
    month: PathMonth, caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> ExportData:
    """Export a month's projects as CSV; the link is valid for ten minutes."""
    return ExportData(data=await project_csv.export_projects(db, caller, resources, month))


@get(
    "/billinggroup/{company_id:str}/history",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    basis=chosen("customer-history"),
)
async def read_customer_history(
    company_id: FromPath[str], caller: RequestCaller, db: Transaction, months: MonthCount = 12
) -> CustomerHistory:
    """List the invoices of a billing group with vendor cost and margin, 12 months by default."""
    return await customer_history.load_customer_history(db, caller.scope, company_id, months)


ROUTES = [list_projects_of_month, export_projects_of_month, read_customer_history]
