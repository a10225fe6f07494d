"""Routes for agents; paths are relative to /v3."""

from typing import Annotated, Any

from litestar import MediaType, Response
from litestar.params import JSONBody, QueryParameter

from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import stated
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, get, post
from nimbill.legacy.agent import operations
from nimbill.legacy.agent.bodies import (
    AgentConfiguration,
    AgentRecord,
    AgentStatusReport,
    ContainerRecord,
    ContainerStatusReport,
)
from nimbill.legacy.audiences import LEGACY_AGENT

AGENT_ROUTE: dict[str, Any] = {
    "audiences": [LEGACY_AGENT],
    "role_actions": ANY_CALLER,
    "basis": stated("Legacy lifecycle API"),
}
Id = Annotated[str, QueryParameter(min_length=1, max_length=128, description="length 1 to 128")]


@post(
    "/alm/agent/agent_status",
    status_code=202,
    forms=True,
    audited="agent/{stack_id}/{agent_id}",
    **AGENT_ROUTE,
)
async def report_agent_status(
    data: JSONBody[AgentStatusReport], caller: RequestCaller, db: Transaction
) -> AgentRecord:
    """Report the status of an agent, as a form or a JSON object. The first report registers it."""
    return await operations.report_agent_status(db, caller, data)


@post(
    "/alm/agent/container_status",
    status_code=202,
    forms=True,
    audited="container/{container_id}",
    **AGENT_ROUTE,
)
async def report_container_status(
    data: JSONBody[ContainerStatusReport], caller: RequestCaller, db: Transaction
) -> ContainerRecord:
    """Report the status of a container, as a form or a JSON object. The first registers it."""
    return await operations.report_container_status(db, caller, data)


@get("/alm/agent/config", may_be_empty=True, **AGENT_ROUTE)
async def read_agent_configuration(
    stack_id: Id,
    flag: Id,
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Response[AgentConfiguration]:
    """Read what the instances of a layer run; the body is empty if the layer has no container."""
    configuration = await operations.read_configuration(
        db, caller, resources.encryptor, stack_id=stack_id, flag=flag
    )
    if configuration is None:
        return Response(b"", media_type=MediaType.TEXT)  # type: ignore[arg-type]  # empty
    return Response(configuration)


ROUTES = [report_agent_status, report_container_status, read_agent_configuration]
