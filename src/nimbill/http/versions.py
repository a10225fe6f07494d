"""Optimistic locking: the ETag of an editable object, and If-Match on routes that change it.

A route declares `versioned` with the loader of its object. A route that returns the object itself
also declares `version_of`, so that the object is not loaded a second time. The version is a digest
of what can be edited, so it needs no column of its own and a change that changes nothing keeps it.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from litestar import Request
from litestar.params import QueryParameter
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.gate import MUTATING, get_caller
from nimbill.access.request_context import RequestContext, get_request_context
from nimbill.audit.records import find_latest_change
from nimbill.foundation.errors import VersionConflict
from nimbill.http.object_version import ObjectVersion

# See docs/choices.md, object-versions.

OPTION, OF_RESPONSE = "versioned", "version_of"
IF_MATCH, ETAG = "If-Match", "ETag"

WithEtags = Annotated[
    bool, QueryParameter(description="true adds the version of each record as `etag`")
]


# Loads the object that the parameters of the path and the query name; None if the caller cannot see
# it. The last argument locks it until the end of the transaction.
LoadVersion = Callable[
    [AsyncConnection, Caller, Mapping[str, Any], bool], Awaitable[ObjectVersion | None]
]


async def refuse_other_version(request: Request[Any, Any, Any]) -> None:
    """Refuse a change with 412 if the object is no longer the version that If-Match names.

    The object stays locked until the change is committed. The handler refuses a missing object.
    """
    sent = request.headers.get(IF_MATCH)
    load: LoadVersion | None = request.route_handler.opt.get(OPTION)
    context = get_request_context(request.scope)
    if sent is None or load is None or context.db is None or request.method not in MUTATING:
        return
    caller = get_caller(context)
    current = await load(context.db, caller, _read_parameters(request), True)
    if current is None or matches(sent, current.etag):
        return
    latest = await find_latest_change(context.db, caller.scope, current.resource)
    raise VersionConflict(
        etag=current.etag,
        changed_by=None if latest is None else latest["actor_name"],
        changed_at=None if latest is None else latest["at"],
    )


def _read_parameters(request: Request[Any, Any, Any]) -> dict[str, Any]:
    return {**request.query_params, **request.path_params}


def matches(sent: str, etag: str) -> bool:
    """Whether the list of versions names this one; quotes may be missing, `*` is any version."""
    versions = [version.strip() for version in sent.split(",")]
    return "*" in versions or etag in versions or etag.strip('"') in versions


async def add_etag(
    context: RequestContext, request: Request[Any, Any, Any], response: object
) -> None:
    """Add the version of the object that the response shows, or that the request has changed."""
    load: LoadVersion | None = request.route_handler.opt.get(OPTION)
    if load is None or context.db is None or context.replayed:
        return
    build: Callable[[Any], ObjectVersion] | None = request.route_handler.opt.get(OF_RESPONSE)
    if build is not None:
        version: ObjectVersion | None = build(response)
    else:
        version = await load(context.db, get_caller(context), _read_parameters(request), False)
    if version is not None:
        context.response_headers[ETAG] = version.etag
