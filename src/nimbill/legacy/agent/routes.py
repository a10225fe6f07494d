"""Agent over HTTP; paths are relative to the address of the legacy API."""

from typing import Annotated, Any

from litestar import MediaType, Response
from litestar.params import JSONBody, QueryParameter

from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import stated
from nimbill.http.routing import CallerOfRequest, ResourcesOfWorker, Transaction, get, post
from nimbill.legacy.agent import operations
from nimbill.legacy.agent.bodies import (
    AgentConfiguration,
    AgentRecord,
    AgentStatusReport,
    ContainerRecord,
    ContainerStatusReport,
)
from nimbill.legacy.audiences import LEGACY_AGENT

OF_AGENTS: dict[str, Any] = {
    "audiences": [LEGACY_AGENT],
    "role_actions": ANY_CALLER,
    "basis": stated("Legacy lifecycle API"),
}
Named = Annotated[str, QueryParameter(min_length=1, max_length=128, description="length 1 to 128")]


@post(
    "/alm/agent/agent_status",
    status_code=202,
    forms=True,
    audited="agent/{stack_id}/{agent_id}",
    **OF_AGENTS,
)
async def report_agent_status(
    data: JSONBody[AgentStatusReport], caller: CallerOfRequest, db: Transaction
) -> AgentRecord:
    """How an agent is; the first report registers it. A JSON object, or a form."""
    return await operations.report_agent_status(db, caller, data)


@post(
    "/alm/agent/container_status",
    status_code=202,
    forms=True,
    audited="container/{container_id}",
    **OF_AGENTS,
)
async def report_container_status(
    data: JSONBody[ContainerStatusReport], caller: CallerOfRequest, db: Transaction
) -> ContainerRecord:
    """How a container is; the first report makes it known. A JSON object, or a form."""
    return await operations.report_container_status(db, caller, data)


@get("/alm/agent/config", may_be_empty=True, **OF_AGENTS)
async def read_agent_configuration(
    stack_id: Named,
    flag: Named,
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
) -> Response[AgentConfiguration]:
    """What the instances of a layer run; an empty body where the flag names no container."""
    found = await operations.read_configuration(
        db, caller, resources.encryptor, stack_id=stack_id, flag=flag
    )
    if found is None:
        return Response(b"", media_type=MediaType.TEXT)  # type: ignore[arg-type]  # see above
    return Response(found)


ROUTES = [report_agent_status, report_container_status, read_agent_configuration]
