"""Routes of deployments; paths are relative to /m/core."""

from typing import Annotated

from litestar.params import FromPath, QueryParameter

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import stated
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, delete, get
from nimbill.legacy.deployments import operations
from nimbill.legacy.deployments.bodies import Deployment

# a label may contain slashes: the name is the rest of the path, with a leading slash
NameOfPath = FromPath[str]
Force = Annotated[bool, QueryParameter(description="true or false")]


@get(
    "/v0/deployments/{name:path}",
    audiences=[Audience.core],
    tags=["Legacy"],
    role_actions=[RoleAction.ReadDeployment, RoleAction.ModifyDeployment],
    basis=stated("Deployments"),
)
async def read_deployment(name: NameOfPath, caller: RequestCaller, db: Transaction) -> Deployment:
    """Read the stacks whose first template has this label, with their layers and instances."""
    return await operations.read_deployment(db, caller, name.removeprefix("/"))


@delete(
    "/v0/deployments/{name:path}",
    audiences=[Audience.core],
    tags=["Legacy"],
    role_actions=[RoleAction.ModifyDeployment],
    basis=stated("Deployments"),
    audited="deployment{name}",
    changes=Changes.shared_records,
)
async def delete_deployment(
    name: NameOfPath, caller: RequestCaller, db: Transaction, force: Force = False
) -> Success:
    """Delete all stacks of a deployment; `force` also deletes those in progress or running."""
    await operations.delete_deployment(db, caller, name.removeprefix("/"), force=force)
    return Success()


ROUTES = [read_deployment, delete_deployment]
