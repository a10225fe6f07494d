"""Requests made from the routes: a sound one of a tenant's own, and the same with another's ids."""

from __future__ import annotations

import copy
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from msgspec import inspect

from nimbill.foundation.product import Product
from tests.contract import resource_factories, valid_bodies
from tests.contract.declared_routes import Route
from tests.contract.resource_factories import RecordReference, find_reference
from tests.contract.tenants import PLAIN_VALUES, Tenant

# guarded routes that read their body by hand, and why no record is named there
MANUALLY_PARSED: dict[str, str] = {
    "detach_legacy_role": "the user it takes the role from is named in the query, too",
    "apply_template": "a template names nothing that is stored",
    "update_template": "a template names nothing that is stored but the stack of the path",
}

# names that may stand for a record wherever they appear; each is a slot, or has a reason not to be
REFERENCE_NAMES = re.compile(r".*_ids?|ids?|users?|roles?|groups?|resource|data|actor")


@dataclass(frozen=True)
class RequestField:
    """Where a request names a record; in a body by keys, `[]` an item, `{}` a key, `*` a value."""

    where: str
    name: str
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.where} {'.'.join(self.keys) or self.name}"


@dataclass
class RouteRequest:
    """What a request carries; the answers to two of them can be compared."""

    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None

    def value_at(self, place: RequestField) -> str:
        if place.where != "body":
            return str(getattr(self, place.where)[place.name])
        return str(_follow(self.body, place.keys))

    def with_values(self, values: dict[RequestField, str]) -> RouteRequest:
        changed = copy.deepcopy(self)
        for place, value in values.items():
            if place.where != "body":
                getattr(changed, place.where)[place.name] = value
                continue
            *outer, last = place.keys
            inside = _follow(changed.body, outer)
            if last == "{}" and isinstance(inside, dict):
                inside[value] = inside.pop(next(iter(inside)))
            else:
                inside[0 if isinstance(inside, list) else last] = value
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
    """A request of the tenant's own that should be answered with success."""
    sent = RouteRequest()
    for name in route.path_names:
        slot = find_reference(route.operation, name)
        if slot is resource_factories.CLIENT and "user" in sent.path:
            owner = tenant.superuser.sql(
                "SELECT user_id FROM users WHERE $1 IN (user_id, username)", sent.path["user"]
            )
            sent.path[name] = resource_factories.make_api_client(tenant, owner[0]["user_id"])
        else:
            sent.path[name] = slot.create(tenant) if slot else plain_value(route, name, tenant)
    for name in route.query_names:
        if slot := find_reference(route.operation, name):
            sent.query[name] = slot.create(tenant)
        elif name in PLAIN_VALUES:
            sent.query[name] = PLAIN_VALUES[name]
    if route.body is not None or route.operation in MANUALLY_PARSED:
        sent.body = valid_bodies.BODIES[route.operation](tenant)
    return sent


def plain_value(route: Route, name: str, tenant: Tenant) -> str:
    fresh = resource_factories.FRESH_VALUES.get(f"{route.operation}.{name}")
    return fresh(tenant) if fresh else PLAIN_VALUES[name]


def root_headers(tenant: Tenant, route: Route, product: Product) -> dict[str, str]:
    """Headers of whoever may do everything: the root user, or its client where agents call."""
    return tenant.service.root(tenant.organisation, product, agent=route.for_agents)


def send_request(tenant: Tenant, route: Route, sent: RouteRequest, headers: dict[str, str]) -> httpx.Response:
    return tenant.service.http.request(
        route.method,
        route.fill_path(**sent.path),
        params=sent.query,
        headers=headers,
        **({} if sent.body is None else {"json": sent.body}),
    )


def list_reference_fields(route: Route) -> list[RequestField]:
    """Every place of a request that names a record, for which there is a maker."""
    return [place for place in _list_named_fields(route) if find_reference(route.operation, place.name)]


def unexplained_fields(route: Route) -> list[str]:
    """Parameters and suspicious body fields that are neither a slot nor explained."""
    explained = resource_factories.NOT_A_RECORD.keys() | PLAIN_VALUES.keys()
    return [
        f"{route.operation}: {place} has no maker in tests/contract/resource_factories.py"
        for place in _list_named_fields(route)
        if not find_reference(route.operation, place.name) and place.name not in explained
    ]


def _list_named_fields(route: Route) -> Iterator[RequestField]:
    for name in route.path_names:
        yield RequestField("path", name)
    for name in route.query_names:
        yield RequestField("query", name)
    if route.body is not None:
        shape = inspect.type_info(route.body)
        for place in _list_text_fields(shape, "", ()):
            if REFERENCE_NAMES.fullmatch(place.name) or find_reference(route.operation, place.name):
                yield place


def _list_text_fields(shape: inspect.Type, name: str, keys: tuple[str, ...]) -> Iterator[RequestField]:
    """Every text of a body, by the field that holds it; also the keys of a map that are texts."""
    match shape:
        case inspect.StructType(fields=fields):
            for one in fields:
                yield from _list_text_fields(one.type, one.encode_name, (*keys, one.encode_name))
        case inspect.UnionType(types=kinds):
            for kind in kinds:
                yield from _list_text_fields(kind, name, keys)
        case inspect.ListType(item_type=item) if not isinstance(item, inspect.AnyType):
            yield from _list_text_fields(item, name, (*keys, "[]"))
        case inspect.DictType(key_type=key, value_type=value):
            if isinstance(key, inspect.StrType):
                yield RequestField("body", name, (*keys, "{}"))
            if not isinstance(value, inspect.AnyType):  # whatever stands there, nobody reads it
                yield from _list_text_fields(value, name, (*keys, "*"))
        case inspect.StrType() | inspect.AnyType():
            yield RequestField("body", name, keys)


def make_unknown_id(value: str) -> str:
    """An id or a name of the same form that nobody ever had."""
    stem, mark, random = value.rpartition("_")
    if mark and len(random) == 26:
        return stem + mark + secrets.token_hex(13)
    return value[:3] + secrets.token_hex(9)[: len(value) - 3]


def references_at(route: Route, places: Sequence[RequestField]) -> dict[RequestField, RecordReference]:
    found = {place: find_reference(route.operation, place.name) for place in places}
    return {place: slot for place, slot in found.items() if slot is not None}


def comparable_response(answer: httpx.Response, sent: RouteRequest | None = None) -> tuple[int, dict[str, str], bytes]:
    """All that an answer tells, but for its own number and the time.

    A refusal is taken as it is. A success may repeat the names and ids it was asked by.
    """
    body = answer.content.replace(answer.headers["x-request-id"].encode(), b"*")
    if answer.is_success and sent is not None:
        for word in sorted(set(_list_texts(vars(sent))), key=len, reverse=True):
            body = body.replace(word.encode(), b"*") if len(word) > 8 else body
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    if answer.is_success:
        headers.pop("content-length", None)
    return answer.status_code, headers | {"x-request-id": "*"}, body


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
