"""Projects per month over HTTP; paths are relative to /m/core."""

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, get
from nimbill.invoicing.profit import project_profits
from nimbill.invoicing.profit.bodies import ProjectProfit


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


ROUTES = [list_projects_of_month]
