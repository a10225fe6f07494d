"""Routes of templates; paths are relative to /v3."""

from typing import Any

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Unaudited
from nimbill.access.request_context import get_request_context
from nimbill.foundation.clock import format_timestamp
from nimbill.http.forms import FORM_TYPES
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, get, post, put
from nimbill.legacy.roles.guard import USER_ROUTE, PermissionOfCaller
from nimbill.legacy.roles.permissions import ScopeRequirement
from nimbill.legacy.templates import compare_templates as compare
from nimbill.legacy.templates import operations, records
from nimbill.legacy.templates.bodies import (
    Comparison,
    TemplateApplied,
    TemplateBody,
    TemplateForm,
    TemplatesCompared,
    TemplateVersion,
)
from nimbill.legacy.templates.compare_templates import format_template_resource
from nimbill.legacy.templates.secrets import mask_secrets, read_masked_template
from nimbill.legacy.templates.template_parser import (
    YAML_TYPES,
    SentTemplate,
    parse_template_request,
)

TEMPLATE_BODIES = {
    **dict.fromkeys(("application/json", *YAML_TYPES), TemplateBody),
    **dict.fromkeys(FORM_TYPES, TemplateForm),
}
DESCRIBE_TEMPLATE = "template:describeTemplate"


@post(
    "/alm/template",
    status_code=201,
    reads=TEMPLATE_BODIES,
    requires=ScopeRequirement("template:createAlmTemplate", format_template_resource("*")),
    audited="stack/{stack_id}",
    **USER_ROUTE,
)
async def apply_template(
    request: Request[Any, Any, Any],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> TemplateApplied:
    """Apply a template: create a stack and launch its instances."""
    sent = await _read_template(request)
    applied = await operations.apply_template(db, caller, resources, sent)
    return _to_body(applied)


@put(
    "/alm/template/{stack_id:str}",
    status_code=202,
    reads=TEMPLATE_BODIES,
    requires=ScopeRequirement("template:updateAlmTemplate", format_template_resource("{stack_id}")),
    audited="stack/{stack_id}",
    **USER_ROUTE,
)
async def update_template(
    stack_id: FromPath[str],
    request: Request[Any, Any, Any],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> TemplateApplied:
    """Update a stack to another template; the vendor section is ignored."""
    sent = await _read_template(request)
    applied = await operations.update_template(db, caller, resources, stack_id, sent)
    return _to_body(applied)


@post(
    "/alm/template/compare",
    status_code=202,
    requires=ScopeRequirement(compare.COMPARE_TEMPLATE),
    audited=Unaudited("comparing changes no record"),
    **USER_ROUTE,
)
async def compare_templates(
    data: JSONBody[Comparison],
    caller: RequestCaller,
    db: Transaction,
    permission: PermissionOfCaller,
    resources: WorkerResources,
) -> TemplatesCompared:
    """Compare two stored templates, or a stored template with one in the request."""
    return await compare.compare_templates(db, caller.scope, permission, resources.encryptor, data)


@get(
    "/alm/template",
    requires=ScopeRequirement(DESCRIBE_TEMPLATE),
    **USER_ROUTE,
)
async def list_template_versions(
    stack_id: FromQuery[str],
    caller: RequestCaller,
    db: Transaction,
    permission: PermissionOfCaller,
) -> list[TemplateVersion]:
    """List the versions of a stack's template, newest first."""
    permission.require(DESCRIBE_TEMPLATE, format_template_resource(stack_id))
    latest = await compare.read_template(db, caller.scope, stack_id, None)
    return [
        TemplateVersion(
            version_id=row.version_id,
            latest=row.version_id == latest.version_id,
            last_modified=format_timestamp(row.create_time),
            size=str(row.size),
        )
        for row in await records.list_versions(db, caller.scope, stack_id)
    ]


@get(
    "/alm/template/{stack_id:str}",
    requires=ScopeRequirement(DESCRIBE_TEMPLATE, format_template_resource("{stack_id}")),
    **USER_ROUTE,
)
async def read_template(
    stack_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    version_id: FromQuery[str | None] = None,
) -> dict[str, Any]:
    """Read a template without its secrets; empty or `latest` means the most recent version."""
    return read_masked_template(await compare.read_template(db, caller.scope, stack_id, version_id))


async def _read_template(request: Request[Any, Any, Any]) -> SentTemplate:
    """The audit log stores the template without its secrets."""
    sent = parse_template_request(request.headers.get("content-type", ""), await request.body())
    body, _ = mask_secrets(sent.template)
    get_request_context(request.scope).sent = body | (
        {"nickname": sent.nickname} if sent.nickname is not None else {}
    )
    return sent


def _to_body(applied: operations.AppliedTemplate) -> TemplateApplied:
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
