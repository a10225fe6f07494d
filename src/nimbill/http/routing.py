"""What a route is made of: its declaration, exact bodies, the caller, the transaction."""

from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

from litestar import Litestar, Request, Response
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency, Provide
from litestar.enums import MediaType
from litestar.handlers import HTTPRouteHandler
from litestar.params import PathParameter, QueryParameter
from litestar.types import ASGIApp
from msgspec import Raw
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.gate import MUTATING, Unaudited, caller_in
from nimbill.access.request_context import RequestContext, Resources, request_context_of
from nimbill.audit import records as audit
from nimbill.foundation import calendar_month, exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Unreadable
from nimbill.http import idempotency
from nimbill.http.forms import FORM_TYPES, read_form
from nimbill.http.request_bodies import sound

basis = chosen("content-types")
paging_basis = chosen("list-pages")

T = TypeVar("T")

CallerOfRequest = NamedDependency[Caller]
Limit = Annotated[
    int | None, QueryParameter(ge=1, le=10_000, description="a whole number from 1 to 10000")
]
Offset = Annotated[
    int, QueryParameter(ge=0, le=10_000_000, description="a whole number from 0 to 10000000")
]
MonthOfPath = Annotated[
    str,
    PathParameter(
        min_length=calendar_month.LENGTH,
        max_length=calendar_month.LENGTH,
        pattern=calendar_month.PATTERN,
        description=calendar_month.RULE,
    ),
]
ResourcesOfWorker = NamedDependency[Resources]
Transaction = NamedDependency[AsyncConnection]

# fields whose value never reaches a log or an audit row
SECRET_FIELDS = frozenset(
    {"password", "old_password", "new_password", "client_secret", "refresh_token", "auth_token"}
)
_SECRET_NAMES = tuple(name.encode() for name in SECRET_FIELDS)
AUDITED_BYTES_MAX = 16_384
# a field of 64 KiB in the widest spelling there is, and room for the others
ROUTE_FORM_BYTES_MAX = 262_144


class ExactRequest(Request[Any, Any, Any]):
    """Reads JSON exactly and only where it is declared JSON; the framework's way loses digits.

    A route that declares `forms` reads the same fields from a form too.
    """

    async def body(self) -> bytes:
        """None where files came: they were streamed to disk, and the route looks there."""
        return b"" if request_context_of(self.scope).upload is not None else await super().body()

    async def json(self) -> Any:
        kind = self.route_handler.parsed_fn_signature.parameters["data"].annotation
        return await self.fields(without_none(kind))

    async def fields(self, kind: type[T]) -> T:
        """The body, checked; routes that read it by hand ask for it themselves."""
        declared = self.headers.get("content-type", "")
        name = declared.partition(";")[0].strip().lower()
        sent: Any
        if name == "application/json":
            sent = exact_json.read(await self.body())
        elif name in FORM_TYPES and "forms" in self.route_handler.opt:
            sent = read_form(declared, await self.body(), bytes_max=ROUTE_FORM_BYTES_MAX)
        else:
            raise Unreadable(415, "media_type", "the body must be application/json")
        visit = request_context_of(self.scope)
        body = sound(kind, sent)
        visit.sent, visit.body = sent, body
        return body


def without_none(kind: Any) -> Any:
    """The body of a route that also answers without one."""
    kinds = [one for one in get_args(kind) if one is not NoneType]
    return kinds[0] if kinds else kind


class ExactResponse(Response[Any]):
    """Writes decimals as JSON numbers with the digits they have."""

    def render(self, content: Any, media_type: str, enc_hook: Any = None) -> bytes:
        if media_type == MediaType.JSON and not isinstance(content, bytes):
            return exact_json.write(content)
        return super().render(content, media_type, enc_hook)


class Endpoint(HTTPRouteHandler):
    """A route whose answer is sent only when audit row, kept answer and effect are committed."""

    async def to_response(
        self, app: Litestar, data: Any, request: Request[Any, Any, Any]
    ) -> ASGIApp:
        response = await super().to_response(app, data, request)
        visit = request_context_of(request.scope)
        if visit.db is not None:
            if self._changes(visit, request):
                await self._leave_traces(visit, request, data, response)
            await visit.commit()
        return response

    async def authorize_connection(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        """Every guard in turn; the framework's own would copy the route for each of them."""
        for guard in self.resolve_guards():
            await guard(connection, self)  # type: ignore[misc]  # they are all async by now

    def _changes(self, visit: RequestContext, request: Request[Any, Any, Any]) -> bool:
        """Not an earlier answer again, nor the reading half of a route that changes with a body."""
        reads = "role_actions_with_body" in self.opt and visit.body is None
        return request.method in MUTATING and not visit.replayed and not reads

    async def _leave_traces(
        self, visit: RequestContext, request: Request[Any, Any, Any], data: Any, response: Any
    ) -> None:
        assert visit.db is not None
        caller = caller_in(visit)
        if isinstance(visit.idempotency, idempotency.HeldKey):
            resources: Resources = request.app.state.resources
            answer = idempotency.FirstAnswer(response.status_code, response.body)
            await idempotency.keep(visit.db, caller, resources.sealer, visit.idempotency, answer)
        audited = self.opt["audited"]
        if not isinstance(audited, Unaudited):
            known = {**_fields(visit.body), **_fields(data), **request.path_params}
            await audit.append(
                visit.db,
                actor=caller.user_id,
                actor_name=caller.username,
                client_id=caller.client_id,
                action=self.fn.__name__,
                resource=audited.format_map(known),
                company_id=known.get("company_id"),
                request_id=visit.request_id,
                sent=_without_secrets(visit.sent),
            )


def _fields(answer: Any) -> dict[str, Any]:
    names = getattr(answer, "__struct_fields__", ())
    return {name: getattr(answer, name) for name in names}


def _without_secrets(sent: Any) -> Any:
    """What was sent, for the audit row: secrets left out, long bodies by their size alone."""
    if sent is None:
        return None
    written = exact_json.write(sent)
    if any(name in written for name in _SECRET_NAMES):
        written = exact_json.write(_cleaned(sent))
    return Raw(written) if len(written) <= AUDITED_BYTES_MAX else {"bytes": len(written)}


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: "***" if k in SECRET_FIELDS else _cleaned(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return value


class get(Endpoint):  # noqa: N801  # read as a decorator, like the framework's own
    def __init__(self, path: str | list[str], **facts: Any) -> None:
        super().__init__(path, http_method="GET", status_code=200, **facts)


class post(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], status_code: int = 200, **facts: Any) -> None:
        super().__init__(path, http_method="POST", status_code=status_code, **facts)


class put(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], status_code: int = 200, **facts: Any) -> None:
        super().__init__(path, http_method="PUT", status_code=status_code, **facts)


class patch(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], **facts: Any) -> None:
        super().__init__(path, http_method="PATCH", status_code=200, **facts)


class delete(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], **facts: Any) -> None:
        super().__init__(path, http_method="DELETE", status_code=200, **facts)


async def replay(request: Request[Any, Any, Any]) -> Response[bytes] | None:
    """Before the handler: the kept answer of an earlier call with the same key, if any."""
    key = request.headers.get(idempotency.HEADER)
    visit = request_context_of(request.scope)
    if key is None or visit.db is None or request.method not in MUTATING:
        return None
    resources: Resources = request.app.state.resources
    print_ = idempotency.fingerprint(
        request.method,
        request.scope["path"],
        request.scope["query_string"],
        request.headers.get("content-type", ""),
        visit.upload.fingerprint if visit.upload is not None else await request.body(),
    )
    held = await idempotency.hold(visit.db, caller_in(visit), resources.sealer, key, print_)
    if isinstance(held, idempotency.HeldKey):
        visit.idempotency = held
        return None
    visit.replayed = True
    return Response(
        held.body,
        status_code=held.status,
        media_type=MediaType.JSON,
        headers={"Idempotent-Replayed": "true"},
    )


async def caller_of_request(request: Request[Any, Any, Any]) -> Caller:
    return caller_in(request_context_of(request.scope))


async def resources_of_worker(request: Request[Any, Any, Any]) -> Resources:
    resources: Resources = request.app.state.resources
    return resources


async def transaction_of_request(
    request: Request[Any, Any, Any],
    caller: CallerOfRequest,  # noqa: ARG001  # one after the other: side by side costs two tasks
) -> AsyncConnection:
    """The request's one transaction: committed with the answer, rolled back on a refusal."""
    db = request_context_of(request.scope).db
    assert db is not None, "the gate opened it"
    return db


DEPENDENCIES = {
    "caller": Provide(caller_of_request),
    "db": Provide(transaction_of_request),
    "resources": Provide(resources_of_worker),
}
