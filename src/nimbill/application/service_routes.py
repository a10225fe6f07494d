"""Routes about the service itself: is it alive, is it ready, what does it count, its API page."""

from functools import cache
from importlib.resources import files
from typing import Any

from litestar import Request, Response
from litestar.params import FromPath
from litestar.response import Redirect

from nimbill.access.gate import Public
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.application.schema import MIGRATIONS
from nimbill.database.migrate import is_schema_current
from nimbill.database.tenant_scope import unavailable
from nimbill.foundation import metrics
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Unavailable, not_found
from nimbill.http.routing import get

_BASIS = chosen("service-endpoints")

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_KINDS = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "png": "image/png",
}


@get(
    "/healthz",
    audiences=Public("a supervisor asks before it has any token"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
)
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@get(
    "/readyz",
    audiences=Public("a load balancer asks before it sends anyone"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
)
async def readyz(request: Request[Any, Any, Any]) -> dict[str, str]:
    """The database answers and is of this version; 503 otherwise."""
    resources: Resources = request.app.state.resources
    try:
        async with resources.engine.connect() as db:
            is_current = await db.run_sync(is_schema_current, MIGRATIONS)
    except Exception as error:
        raise unavailable() from error
    if not is_current:
        raise Unavailable("database_outdated", "the database awaits a migration", retry_after=5)
    return {"status": "ready"}


@get(
    "/metrics",
    audiences=Public("figures without a name in them; a proxy may close the path"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
    media_type=metrics.CONTENT_TYPE,
)
async def show_metrics() -> bytes:
    """What the workers counted, in the Prometheus text format."""
    return metrics.exposition()


@get(
    "/openapi.json",
    audiences=Public("the interface is no secret"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
    media_type="application/json",
)
async def openapi(request: Request[Any, Any, Any]) -> Response[dict[str, Any]]:
    """This interface as an OpenAPI document."""
    return Response(request.app.state.openapi_document, media_type="application/json")


@get(
    "/",
    audiences=Public("leads a person to the API page"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
    include_in_schema=False,
)
async def front() -> Redirect:
    """The API page, until somebody asks for something else."""
    return Redirect("/docs", status_code=302)


@get(
    ["/docs", "/docs/{name:str}"],
    audiences=Public("the interface is no secret"),
    role_actions=ANY_CALLER,
    basis=_BASIS,
    include_in_schema=False,
)
async def api_page(name: FromPath[str] = "index.html") -> Response[bytes]:
    """The interactive API page, from files of our own."""
    content = _page_files().get(name)
    if content is None:
        raise not_found()
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "max-age=300"}
    kind = _KINDS.get(name.rpartition(".")[2], "application/octet-stream")
    return Response(content, media_type=kind, headers=headers)


@cache
def _page_files() -> dict[str, bytes]:
    """Read once; a name that is not in the folder is simply not there."""
    folder = files("nimbill.application") / "static" / "api"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


ROUTES = [healthz, readyz, show_metrics, openapi, front, api_page]
