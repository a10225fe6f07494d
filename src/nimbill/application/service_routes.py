"""Routes of the service itself: health, readiness, metrics, OpenAPI document and API page."""

import asyncio
from functools import cache
from importlib.resources import files
from typing import Any

from litestar import Request, Response
from litestar.params import FromPath

from nimbill.access.gate import Public
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.application.migration_packages import MIGRATIONS
from nimbill.application.service_metrics import ServiceMetrics
from nimbill.database.migrate import NEWER_SCHEMA, SchemaState, find_schema_state
from nimbill.foundation import metrics
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Unavailable, not_found
from nimbill.http.routing import get

_BASIS = chosen("service-endpoints")

DATABASE_AWAY = (
    "The database cannot be reached. Send no requests until this worker is ready again, and do not "
    "restart it: it reconnects by itself."
)
OLDER_SCHEMA = (
    "The database has the schema of an older version of Nimbill. Start `nimbill serve` of this "
    "version, which migrates it."
)

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
CONTENT_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "png": "image/png",
}


@get(
    "/healthz",
    audiences=Public("supervisors have no token"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
)
async def healthz() -> dict[str, str]:
    """Check that the process responds. Restart it only if this fails."""
    return {"status": "ok"}


@get(
    "/readyz",
    audiences=Public("load balancers have no token"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
)
async def readyz(request: Request[Any, Any, Any]) -> dict[str, str]:
    """Check that the database is available and has the schema of this version; 503 otherwise.

    The detail of a 503 says what a supervisor should do.
    """
    resources: Resources = request.app.state.resources
    try:
        async with resources.engine.connect() as db:
            state = await db.run_sync(find_schema_state, MIGRATIONS)
    except Exception as error:
        raise Unavailable("database_away", DATABASE_AWAY, retry_after=2) from error
    if state is not SchemaState.current:
        detail = NEWER_SCHEMA if state is SchemaState.newer else OLDER_SCHEMA
        raise Unavailable("database_outdated", detail, retry_after=5)
    return {"status": "ready"}


@get(
    "/metrics",
    audiences=Public("metrics contain no names; a proxy can block the path"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
    media_type=metrics.CONTENT_TYPE,
)
async def show_metrics(request: Request[Any, Any, Any]) -> bytes:
    """Return the metrics of all workers in the Prometheus text format."""
    service_metrics: ServiceMetrics = request.app.state.service_metrics
    return await service_metrics.render()


@get(
    "/openapi.json",
    audiences=Public("the interface is not secret"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
    media_type="application/json",
)
async def openapi(request: Request[Any, Any, Any]) -> Response[dict[str, Any]]:
    """Return the OpenAPI document of this interface."""
    # Building it takes a second. Most processes never need it, so the first request waits, and
    # others wait for it instead of building it too.
    async with request.app.state.openapi_lock:
        document = await asyncio.to_thread(request.app.state.build_openapi_document)
    return Response(document, media_type="application/json")


@get(
    ["/docs", "/docs/{name:str}"],
    audiences=Public("the interface is not secret"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
    include_in_schema=False,
)
async def get_api_page_file(name: FromPath[str] = "index.html") -> Response[bytes]:
    """Return a file of the interactive API page."""
    content = _page_files().get(name)
    if content is None:
        raise not_found()
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "max-age=300"}
    content_type = CONTENT_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return Response(content, media_type=content_type, headers=headers)


@cache
def _page_files() -> dict[str, bytes]:
    """Read all files once, so that a requested name is never used as a path."""
    folder = files("nimbill.application") / "static" / "api"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


ROUTES = [healthz, readyz, show_metrics, openapi, get_api_page_file]
