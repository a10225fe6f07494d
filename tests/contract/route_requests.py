"""Builds valid requests from the routes, and the same requests with other ids."""

from __future__ import annotations

import copy
import dataclasses
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from msgspec import inspect

from nimbill.foundation.product import Product
from nimbill.http.downloads import CSV_TYPE
from tests.contract import resource_factories, valid_bodies
from tests.contract.declared_routes import Route
from tests.contract.resource_factories import find_reference
from tests.contract.tenants import PLAIN_VALUES, RecordReference, Tenant
from tests.contract.webhook_factories import make_webhook_delivery

# protected routes that parse their body themselves, and why the body refers to no record
MANUALLY_PARSED: dict[str, str] = {
    "create_billing_groups_from_csv": "tests of the operation send ids of other organisations",
    "create_accounts_from_csv": "tests of the operation send ids of other organisations",
    "create_contacts_from_csv": "tests of the operation send ids of other organisations",
    "record_payments_from_csv": "tests of the operation send numbers of other organisations",
    "detach_legacy_role": "the user is named in the query too",  # version 3
    "apply_template": "a template refers to no record",  # version 3
    "update_template": "a template refers to no record; the path names the stack",  # version 3
}

# names that look like references; each one needs an entry in REFERENCES or NOT_A_RECORD
REFERENCE_NAMES = re.compile(r".*_ids?|ids?|users?|roles?|groups?|resource|data|actor")


@dataclass(frozen=True)
class RequestField:
    """A field of a path, query or body.

    In a body, keys lead to it: `[]` is the first item, `{}` the first key, `*` the first value.
    """

    location: str
    name: str
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.location} {'.'.join(self.keys) or self.name}"


@dataclass
class RouteRequest:
    """Path values, query and body of a request."""

    path: dict[str, str] = dataclasses.field(default_factory=dict)
    query: dict[str, str] = dataclasses.field(default_factory=dict)
    body: Any = None

    def value_at(self, field: RequestField) -> str:
        if field.location != "body":
            return str(getattr(self, field.location)[field.name])
        return str(_follow(self.body, field.keys))

    def with_values(self, values: dict[RequestField, str]) -> RouteRequest:
        changed = copy.deepcopy(self)
        for field, value in values.items():
            if field.location != "body":
                getattr(changed, field.location)[field.name] = value
                continue
            *outer, last = field.keys
            container = _follow(changed.body, outer)
            if last == "{}" and isinstance(container, dict):
                container[value] = container.pop(next(iter(container)))
            else:
                container[0 if isinstance(container, list) else last] = value
        return changed


def _follow(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        match key:
            case "[]":
                value = value[0]
            case "{}":
                value = next(iter(value))
            case "*":
                value = next(iter(value.values()))
            case _:
                value = value[key]
    return value


def build_valid_request(route: Route, tenant: Tenant) -> RouteRequest:
    """A request about records of the tenant that should succeed."""
    request = RouteRequest()
    for name in route.path_names:
        reference = find_reference(route.operation, name)
        if reference is resource_factories.CLIENT and "user" in request.path:
            owner = tenant.superuser.sql(
                "SELECT user_id FROM users WHERE $1 IN (user_id, username)", request.path["user"]
            )
            request.path[name] = resource_factories.make_api_client(tenant, owner[0]["user_id"])
        elif reference is resource_factories.SESSION:
            request.path[name] = resource_factories.make_session(tenant, request.path["user_id"])
        elif reference is resource_factories.CONTACT:
            group = dataclasses.replace(tenant, group=request.path["company_id"])
            request.path[name] = reference.create(group)
        elif reference is resource_factories.WEBHOOK_DELIVERY:
            request.path[name] = make_webhook_delivery(tenant, request.path["endpoint_id"])
        elif reference:
            request.path[name] = reference.create(tenant)
        else:
            request.path[name] = plain_value(route, name, tenant)
    for name in route.query_names:
        if reference := find_reference(route.operation, name):
            request.query[name] = reference.create(tenant)
        elif name in PLAIN_VALUES:
            request.query[name] = PLAIN_VALUES[name]
    if route.body is not None or route.operation in MANUALLY_PARSED:
        request.body = valid_bodies.BODIES[route.operation](tenant)
    return request


def plain_value(route: Route, name: str, tenant: Tenant) -> str:
    make_value = resource_factories.FRESH_VALUES.get(f"{route.operation}.{name}")
    return make_value(tenant) if make_value else PLAIN_VALUES[name]


def root_headers(tenant: Tenant, route: Route, product: Product) -> dict[str, str]:
    """Headers of the root user, or of its API client on routes for agents."""
    if route.session_only:
        return session_headers(tenant, product)
    return tenant.service.root(tenant.organisation, product, agent=route.for_agents)


def session_headers(tenant: Tenant, product: Product) -> dict[str, str]:
    """Headers of a console session of the root user."""
    user_id = tenant.organisation.root_user_id
    token, _ = tenant.service.resources.tokens.issue(
        product,
        organisation_id=tenant.organisation_id,
        user_id=user_id,
        client_id=resource_factories.make_session(tenant, user_id, product),
        epoch=1,
        subject_type="user",
    )
    return {"Authorization": f"Bearer {token}"}


def send_request(
    tenant: Tenant, route: Route, request: RouteRequest, headers: dict[str, str]
) -> httpx.Response:
    return tenant.service.http.request(
        route.method,
        route.fill_path(**request.path),
        params=request.query,
        headers=headers | ({"Content-Type": CSV_TYPE} if isinstance(request.body, str) else {}),
        **_format_body(request.body),
    )


def _format_body(body: Any) -> dict[str, Any]:
    """Texts are CSV files, everything else is JSON."""
    if body is None:
        return {}
    return {"content": body.encode()} if isinstance(body, str) else {"json": body}


def list_reference_fields(route: Route) -> list[RequestField]:
    """Every field of a request that refers to a record."""
    return [field for field in _list_fields(route) if find_reference(route.operation, field.name)]


def unexplained_fields(route: Route) -> list[str]:
    """Parameters and body fields that look like references and are not explained."""
    explained = resource_factories.NOT_A_RECORD.keys() | PLAIN_VALUES.keys()
    return [
        f"{route.operation}: {field} is neither in REFERENCES nor in NOT_A_RECORD"
        for field in _list_fields(route)
        if not find_reference(route.operation, field.name) and field.name not in explained
    ]


def _list_fields(route: Route) -> Iterator[RequestField]:
    """All parameters, and the body fields that may refer to a record."""
    for name in route.path_names:
        yield RequestField("path", name)
    for name in route.query_names:
        yield RequestField("query", name)
    if route.body is not None:
        for field in _list_texts_of_type(inspect.type_info(route.body), "", ()):
            if REFERENCE_NAMES.fullmatch(field.name) or find_reference(route.operation, field.name):
                yield field


def _list_texts_of_type(
    type_: inspect.Type, name: str, keys: tuple[str, ...]
) -> Iterator[RequestField]:
    """Every text of a body, and the keys of its maps."""
    match type_:
        case inspect.StructType(fields=fields):
            for field in fields:
                yield from _list_texts_of_type(
                    field.type, field.encode_name, (*keys, field.encode_name)
                )
        case inspect.UnionType(types=members):
            for member in members:
                yield from _list_texts_of_type(member, name, keys)
        case inspect.ListType(item_type=item) if not isinstance(item, inspect.AnyType):
            yield from _list_texts_of_type(item, name, (*keys, "[]"))
        case inspect.DictType(key_type=key, value_type=value):
            if isinstance(key, inspect.StrType):
                yield RequestField("body", name, (*keys, "{}"))
            if not isinstance(value, inspect.AnyType):  # values of any type are not read
                yield from _list_texts_of_type(value, name, (*keys, "*"))
        case inspect.StrType() | inspect.AnyType():
            yield RequestField("body", name, keys)


def make_unknown_id(value: str) -> str:
    """An id or name of the same form that never existed."""
    stem, separator, random = value.rpartition("_")
    if separator and len(random) == 26:
        return stem + separator + secrets.token_hex(13)
    return value[:3] + secrets.token_hex(9)[: len(value) - 3]


def references_at(
    route: Route, fields: Sequence[RequestField]
) -> dict[RequestField, RecordReference]:
    references = {field: find_reference(route.operation, field.name) for field in fields}
    return {field: reference for field, reference in references.items() if reference is not None}


def comparable_response(
    response: httpx.Response, request: RouteRequest | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body without request id and date.

    In a success, texts of the request are masked, because the response may repeat them.
    """
    body = response.content.replace(response.headers["x-request-id"].encode(), b"*")
    if response.is_success and request is not None:
        for text in sorted(set(_list_texts(vars(request))), key=len, reverse=True):
            body = body.replace(text.encode(), b"*") if len(text) > 8 else body
    headers = {name: value for name, value in response.headers.items() if name != "date"}
    if response.is_success:
        headers.pop("content-length", None)
    return response.status_code, headers | {"x-request-id": "*"}, body


def _list_texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield key
                yield from _list_texts(item)
        case list():
            for item in value:
                yield from _list_texts(item)
