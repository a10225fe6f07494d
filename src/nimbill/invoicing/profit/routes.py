"""Projects per month over HTTP; paths are relative to /m/core."""

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import CallerOfRequest, MonthOfPath, Transaction, get
from nimbill.invoicing.profit import project_months
from nimbill.invoicing.profit.bodies import ProjectOfMonth


@get(
    "/project/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadProject, RoleAction.ModifyProject],
    basis=chosen("project-months"),
)
async def list_projects_of_month(
    month: MonthOfPath, caller: CallerOfRequest, db: Transaction
) -> list[ProjectOfMonth]:
    """Every project with what it cost, brought and left over in a month."""
    return await project_months.projects_of_month(db, caller.scope, month)


ROUTES = [list_projects_of_month]
