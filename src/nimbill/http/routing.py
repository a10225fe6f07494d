"""Declare routes: request and response bodies, the caller, the transaction, the audit row."""

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
from nimbill.access.gate import MUTATING, Unaudited, get_caller
from nimbill.access.request_context import RequestContext, Resources, get_request_context
from nimbill.audit import records as audit
from nimbill.foundation import calendar_month, exact_json
from nimbill.foundation.errors import Unreadable
from nimbill.http import idempotency, versions
from nimbill.http.forms import FORM_TYPES, parse_form
from nimbill.http.list_parameters import provide_report_total
from nimbill.http.request_bodies import mentions_vendor, parse_body
from nimbill.http.vendor_parameters import load_request_vendors, refuse_disabled_vendor

# See docs/choices.md, content-types.
# See docs/choices.md, list-pages.

T = TypeVar("T")

RequestCaller = NamedDependency[Caller]
Limit = Annotated[
    int | None, QueryParameter(ge=1, le=10_000, description="a whole number from 1 to 10000")
]
Offset = Annotated[
    int, QueryParameter(ge=0, le=10_000_000, description="a whole number from 0 to 10000000")
]
PathMonth = Annotated[
    str,
    PathParameter(
        min_length=calendar_month.LENGTH,
        max_length=calendar_month.LENGTH,
        pattern=calendar_month.PATTERN,
        description=calendar_month.RULE,
    ),
]
REVISION_MAX = 999_999
# text, so that 1.0 and 1e0 are not further addresses of the first revision
PathRevision = Annotated[
    str,
    PathParameter(
        min_length=1,
        max_length=6,
        pattern="^[1-9][0-9]{0,5}$",
        description=f"a whole number from 1 to {REVISION_MAX}",
    ),
]
WorkerResources = NamedDependency[Resources]
Transaction = NamedDependency[AsyncConnection]

# Fields whose value is never written to a log or an audit row.
SECRET_FIELDS = frozenset(
    {
        *("password", "old_password", "new_password", "client_secret", "refresh_token"),
        *("auth_token", "registration_token", "sign_in_token", "totp_code"),
    }
)
_SECRET_NAMES = tuple(name.encode() for name in SECRET_FIELDS)
AUDITED_BYTES_MAX = 16_384
# One field of 64 KiB, percent-encoded, and the other fields.
ROUTE_FORM_BYTES_MAX = 262_144


def select_page(limit: int | None, offset: int) -> slice:
    """The part of a list that the parameters ask for."""
    return slice(offset, None if limit is None else offset + limit)


class ExactRequest(Request[Any, Any, Any]):
    """Parses JSON with exact decimals, which the framework would turn into floats.

    A route that declares `forms` also accepts the same fields as a form.
    """

    async def body(self) -> bytes:
        """Return the body, which is empty for an upload: its files are already on disk."""
        return b"" if get_request_context(self.scope).upload is not None else await super().body()

    async def json(self) -> Any:
        annotation = self.route_handler.parsed_fn_signature.parameters["data"].annotation
        return await self.read_body(unwrap_optional(annotation))

    async def read_body(self, body_type: type[T]) -> T:
        """Parse and validate the body, and record it for the audit row."""
        content_type = self.headers.get("content-type", "")
        media_type = content_type.partition(";")[0].strip().lower()
        sent: Any
        if media_type == "application/json":
            sent = exact_json.decode(await self.body())
        elif media_type in FORM_TYPES and "forms" in self.route_handler.opt:
            sent = parse_form(content_type, await self.body(), bytes_max=ROUTE_FORM_BYTES_MAX)
        else:
            raise Unreadable(415, "media_type", "The body must be application/json.")
        context = get_request_context(self.scope)
        if mentions_vendor(body_type):
            body = parse_body(body_type, sent, await load_request_vendors(self))
        else:
            body = parse_body(body_type, sent)
        context.sent, context.body = sent, body
        return body


def unwrap_optional(annotation: Any) -> Any:
    """Return T of `T | None`, the annotation of an optional body."""
    types = [member for member in get_args(annotation) if member is not NoneType]
    return types[0] if types else annotation


class ExactResponse(Response[Any]):
    """Writes decimals as JSON numbers with all their digits."""

    def render(self, content: Any, media_type: str, enc_hook: Any = None) -> bytes:
        if media_type == MediaType.JSON and not isinstance(content, bytes):
            return exact_json.encode(content)
        return super().render(content, media_type, enc_hook)


class Endpoint(HTTPRouteHandler):
    """A route that responds after its change, audit row and stored response are committed."""

    async def to_response(
        self, app: Litestar, data: Any, request: Request[Any, Any, Any]
    ) -> ASGIApp:
        response = await super().to_response(app, data, request)
        context = get_request_context(request.scope)
        if context.db is not None:
            if self._is_change(context, request):
                await self._record_change(context, request, data, response)
            await versions.add_etag(context, request, data)
            await context.commit()
        for name, value in context.response_headers.items():
            response.headers[name] = value  # type: ignore[attr-defined]
        return response

    def create_kwargs_model(self, path_parameters: Any) -> Any:
        """Resolve dependencies in turn; the framework's version starts a task for each of them."""
        model = super().create_kwargs_model(path_parameters)
        model.dependency_batches = [{each} for batch in model.dependency_batches for each in batch]
        return model

    async def authorize_connection(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        """Run the guards in order; the framework's version copies the route for each of them."""
        for guard in self.resolve_guards():
            await guard(connection, self)  # type: ignore[misc]  # the framework has made all of them async

    def _is_change(self, context: RequestContext, request: Request[Any, Any, Any]) -> bool:
        """Return False for a replayed response and for a route that changes only with a body."""
        is_read = "role_actions_with_body" in self.opt and context.body is None
        return request.method in MUTATING and not context.replayed and not is_read

    async def _record_change(
        self, context: RequestContext, request: Request[Any, Any, Any], data: Any, response: Any
    ) -> None:
        assert context.db is not None
        caller = get_caller(context)
        if isinstance(context.idempotency, idempotency.ReservedKey):
            resources: Resources = request.app.state.resources
            await idempotency.store_response(
                context.db,
                caller,
                resources.encryptor,
                context.idempotency,
                idempotency.StoredResponse(response.status_code, response.body),
            )
        audited = self.opt["audited"]
        if not isinstance(audited, Unaudited):
            values = {**_struct_fields(context.body), **_struct_fields(data), **request.path_params}
            actor, actor_name = caller.actor
            await audit.append_entry(
                context.db,
                actor=actor,
                actor_name=actor_name,
                client_id=caller.client_id,
                action=self.fn.__name__,
                resource=audited.format_map(values),
                company_id=_find_company_id(values),
                request_id=context.request_id,
                sent=_format_sent(context.sent),
            )


def _find_company_id(values: dict[str, Any]) -> str | None:
    """Return the billing group that was changed, also if it is the only one of a list."""
    company_id: str | None = values.get("company_id")
    company_ids = values.get("company_ids")
    if company_id is None and isinstance(company_ids, list) and len(company_ids) == 1:
        return str(company_ids[0])
    return company_id


def _struct_fields(body: Any) -> dict[str, Any]:
    names = getattr(body, "__struct_fields__", ())
    return {name: getattr(body, name) for name in names}


def _format_sent(sent: Any) -> Any:
    """Return the body for the audit row: secrets masked, a long body replaced by its size."""
    if sent is None:
        return None
    encoded = exact_json.encode(sent)
    if any(name in encoded for name in _SECRET_NAMES):
        encoded = exact_json.encode(_mask_secrets(sent))
    return Raw(encoded) if len(encoded) <= AUDITED_BYTES_MAX else {"bytes": len(encoded)}


def _mask_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: "***" if k in SECRET_FIELDS else _mask_secrets(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_mask_secrets(item) for item in value]
    return value


class get(Endpoint):  # noqa: N801  # a decorator, named like the framework's own
    def __init__(self, path: str | list[str], **options: Any) -> None:
        super().__init__(path, http_method="GET", status_code=200, **options)


class post(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], status_code: int = 200, **options: Any) -> None:
        super().__init__(path, http_method="POST", status_code=status_code, **options)


class put(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], status_code: int = 200, **options: Any) -> None:
        super().__init__(path, http_method="PUT", status_code=status_code, **options)


class patch(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], **options: Any) -> None:
        super().__init__(path, http_method="PATCH", status_code=200, **options)


class delete(Endpoint):  # noqa: N801
    def __init__(self, path: str | list[str], **options: Any) -> None:
        super().__init__(path, http_method="DELETE", status_code=200, **options)


async def prepare_request(request: Request[Any, Any, Any]) -> Response[bytes] | None:
    """Run after the gate and before the handler; a stored response replaces the handler."""
    stored = await replay_stored_response(request)
    if stored is None:
        await refuse_disabled_vendor(request)
        await versions.refuse_other_version(request)
    return stored


async def replay_stored_response(request: Request[Any, Any, Any]) -> Response[bytes] | None:
    """Return the stored response of an earlier request with the same Idempotency-Key, if any."""
    key = request.headers.get(idempotency.HEADER)
    context = get_request_context(request.scope)
    if key is None or context.db is None or request.method not in MUTATING:
        return None
    resources: Resources = request.app.state.resources
    request_hash = idempotency.hash_request(
        request.method,
        request.scope["path"],
        request.scope["query_string"],
        request.headers.get("content-type", ""),
        context.upload.fingerprint if context.upload is not None else await request.body(),
    )
    reserved_or_stored = await idempotency.reserve_key(
        context.db, get_caller(context), resources.encryptor, key, request_hash
    )
    if isinstance(reserved_or_stored, idempotency.ReservedKey):
        context.idempotency = reserved_or_stored
        return None
    context.replayed = True
    return Response(
        reserved_or_stored.body,
        status_code=reserved_or_stored.status,
        media_type=request.route_handler.media_type,
        headers={"Idempotent-Replayed": "true"},
    )


def describe_actor(request: Request[Any, Any, Any], caller: Caller) -> dict[str, Any]:
    """Return who sent the request, for operations that write their own audit rows."""
    actor, actor_name = caller.actor
    return {
        "actor": actor,
        "actor_name": actor_name,
        "client_id": caller.client_id,
        "request_id": get_request_context(request.scope).request_id,
    }


async def provide_caller(request: Request[Any, Any, Any]) -> Caller:
    return get_caller(get_request_context(request.scope))


async def provide_resources(request: Request[Any, Any, Any]) -> Resources:
    resources: Resources = request.app.state.resources
    return resources


async def provide_transaction(request: Request[Any, Any, Any]) -> AsyncConnection:
    """Return the request's transaction: committed before the response, rolled back on an error."""
    db = get_request_context(request.scope).db
    assert db is not None, "the gate opens the transaction"
    return db


DEPENDENCIES = {
    "resources": Provide(provide_resources),
    "caller": Provide(provide_caller),
    "db": Provide(provide_transaction),
    "report_total": Provide(provide_report_total),
}
