"""Routes for agents; paths are relative to /v3."""

from typing import Annotated, Any

from litestar import MediaType, Request, Response
from litestar.di import NamedDependency
from litestar.params import JSONBody, QueryParameter

from nimbill.access.request_context import Resources, get_request_context
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import chosen, stated
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, get, post
from nimbill.legacy.agent import operations
from nimbill.legacy.agent.bodies import (
    AgentConfiguration,
    AgentRecord,
    AgentStatusReport,
    ContainerRecord,
    ContainerStatusReport,
    SessionCredentials,
)
from nimbill.legacy.agent.session_credentials import (
    SessionRequest,
    SessionUse,
    open_session,
    prepare_session,
)
from nimbill.legacy.audiences import LEGACY_AGENT
from nimbill.legacy.settings import read_legacy_settings

AGENT_ROUTE: dict[str, Any] = {
    "audiences": [LEGACY_AGENT],
    "role_actions": ANY_CALLER,
    "basis": stated("Legacy lifecycle API"),
}
SESSION_ROUTE = AGENT_ROUTE | {
    "basis": chosen("agent-session-credentials"),
    "may_conflict": True,  # if AWS refuses the role
}
UserId = Annotated[str | None, QueryParameter(max_length=128, description="length 0 to 128")]
RoleOfAgents = NamedDependency[str | None]  # the organisation's setting agent_role_arn
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


@get("/alm/sts", **SESSION_ROUTE)
async def issue_stack_credentials(
    stack_id: Id,
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    agent_role: RoleOfAgents,
    request: Request[Any, Any, Any],
    user_id: UserId = None,  # noqa: ARG001  # published agents send it
) -> SessionCredentials:
    """Issue temporary cloud credentials for the stack's own resources to its agent."""
    session = await prepare_session(
        db,
        caller,
        resources.encryptor,
        stack_id=stack_id,
        role_arn=agent_role,
        use=SessionUse.stack,
    )
    return await _open_session(request, resources, session)


@get("/alm/agent/logs_access_token", **SESSION_ROUTE)
async def issue_log_credentials(
    stack_id: Id,
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    agent_role: RoleOfAgents,
    request: Request[Any, Any, Any],
    user_id: UserId = None,  # noqa: ARG001  # published agents send it
) -> SessionCredentials:
    """Issue temporary cloud credentials for writing the stack's logs to its agent."""
    session = await prepare_session(
        db,
        caller,
        resources.encryptor,
        stack_id=stack_id,
        role_arn=agent_role,
        use=SessionUse.logs,
    )
    return await _open_session(request, resources, session)


async def _open_session(
    request: Request[Any, Any, Any], resources: Resources, session: SessionRequest
) -> SessionCredentials:
    """Return the database connection to the pool first: the token service may take seconds."""
    await get_request_context(request.scope).pause()
    return await open_session(session, read_legacy_settings(resources.settings).aws_endpoint_url)


ROUTES = [
    report_agent_status,
    report_container_status,
    read_agent_configuration,
    issue_stack_credentials,
    issue_log_credentials,
]
