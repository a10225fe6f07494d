"""Templates over HTTP; paths are relative to the address of the legacy API."""

from typing import Any

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Unaudited
from nimbill.access.request_context import request_context_of
from nimbill.foundation.clock import written
from nimbill.http.forms import FORM_TYPES
from nimbill.http.routing import CallerOfRequest, ResourcesOfWorker, Transaction, get, post, put
from nimbill.legacy.roles.guard import OF_USERS, PermissionOfCaller
from nimbill.legacy.roles.permission import Needs
from nimbill.legacy.templates import comparing, operations, records
from nimbill.legacy.templates.bodies import (
    Comparison,
    TemplateApplied,
    TemplateBody,
    TemplateForm,
    TemplatesCompared,
    TemplateVersion,
)
from nimbill.legacy.templates.comparing import resource_of
from nimbill.legacy.templates.reading import YAML_TYPES, Given, read_sent
from nimbill.legacy.templates.secrets import masked, shown

READS = {
    **dict.fromkeys(("application/json", *YAML_TYPES), TemplateBody),
    **dict.fromkeys(FORM_TYPES, TemplateForm),
}
DESCRIBE = "template:describeTemplate"


@post(
    "/alm/template",
    status_code=201,
    reads=READS,
    needs=Needs("template:createAlmTemplate", resource_of("*")),
    audited="stack/{stack_id}",
    **OF_USERS,
)
async def apply_template(
    request: Request[Any, Any, Any],
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
) -> TemplateApplied:
    """Apply a template: it makes a stack, which is then launched."""
    given = await _given(request)
    applied = await operations.apply_template(db, caller, resources, given)
    return _answer(applied)


@put(
    "/alm/template/{stack_id:str}",
    status_code=202,
    reads=READS,
    needs=Needs("template:updateAlmTemplate", resource_of("{stack_id}")),
    audited="stack/{stack_id}",
    **OF_USERS,
)
async def update_template(
    stack_id: FromPath[str],
    request: Request[Any, Any, Any],
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
) -> TemplateApplied:
    """Move a stack to another template; the vendor section is ignored."""
    given = await _given(request)
    applied = await operations.update_template(db, caller, resources, stack_id, given)
    return _answer(applied)


@post(
    "/alm/template/compare",
    status_code=202,
    needs=Needs(comparing.COMPARE),
    audited=Unaudited("comparing changes no record"),
    **OF_USERS,
)
async def compare_templates(
    data: JSONBody[Comparison],
    caller: CallerOfRequest,
    db: Transaction,
    permission: PermissionOfCaller,
    resources: ResourcesOfWorker,
) -> TemplatesCompared:
    """Compare two stored templates, or a stored one with a given one."""
    return await comparing.compare_templates(
        db, caller.scope, permission, resources.encryptor, data
    )


@get(
    "/alm/template",
    needs=Needs(DESCRIBE),
    **OF_USERS,
)
async def list_template_versions(
    stack_id: FromQuery[str],
    caller: CallerOfRequest,
    db: Transaction,
    permission: PermissionOfCaller,
) -> list[TemplateVersion]:
    """The versions of a stack's template, the newest first."""
    permission.refuse_unless(DESCRIBE, resource_of(stack_id))
    latest = await comparing.read_template(db, caller.scope, stack_id, None)
    return [
        TemplateVersion(
            version_id=row.version_id,
            latest=row.version_id == latest.version_id,
            last_modified=written(row.create_time),
            size=str(row.size),
        )
        for row in await records.list_versions(db, caller.scope, stack_id)
    ]


@get(
    "/alm/template/{stack_id:str}",
    needs=Needs(DESCRIBE, resource_of("{stack_id}")),
    **OF_USERS,
)
async def read_template(
    stack_id: FromPath[str],
    caller: CallerOfRequest,
    db: Transaction,
    version_id: FromQuery[str | None] = None,
) -> dict[str, Any]:
    """A stored template without its secrets; empty or `latest` is the most recent version."""
    return shown(await comparing.read_template(db, caller.scope, stack_id, version_id))


async def _given(request: Request[Any, Any, Any]) -> Given:
    """What the audit row will say was sent is the template without its secrets."""
    given = read_sent(request.headers.get("content-type", ""), await request.body())
    body, _ = masked(given.template)
    request_context_of(request.scope).sent = body | (
        {"nickname": given.nickname} if given.nickname is not None else {}
    )
    return given


def _answer(applied: operations.Applied) -> TemplateApplied:
    return TemplateApplied(
        stack_status=applied.stack_status,
        stack_id=applied.stack_id,
        version_id=applied.version_id,
    )


ROUTES = [
    apply_template,
    update_template,
    compare_templates,
    list_template_versions,
    read_template,
]
