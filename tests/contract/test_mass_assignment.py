"""Fields that a request does not have are ignored: every known name, added to every body."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from msgspec import inspect

from nimbill.application import schema
from nimbill.application.installed import PRODUCTS
from nimbill.database.embedded_postgres import Address
from nimbill.foundation import exact_json
from nimbill.http.request_bodies import parse_body
from tests.contract.basis_marks import all_bodies
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.route_requests import (
    RouteRequest,
    build_valid_request,
    root_headers,
    send_request,
)
from tests.contract.superuser import Superuser, connect_superuser
from tests.contract.tenants import Tenant, new_tenant
from tests.running_service import Service

WRITES = [route for route in protected_routes() if route.is_mutating and route.body is not None]
# one of each product; of all others, the body that a handler receives is tested
SAMPLED = {
    *("create_billing_group", "create_subuser", "change_budgets"),
    "create_legacy_role",  # version 3
}
SAMPLE = [route for route in WRITES if route.operation in SAMPLED]
each_write = pytest.mark.parametrize("route", WRITES, ids=str)

EXTRA = "poison"
# a value for a column of each type; other columns get text
VALUES_BY_TYPE: dict[type, Any] = {
    sa.Boolean: True,
    sa.Integer: 6_660_666,
    sa.Numeric: 6_660_666,
    sa.DateTime: "1999-12-31T23:59:59Z",
    sa.ARRAY: [EXTRA],
    sa.JSON: {EXTRA: EXTRA},
}
# the audit log stores what was sent, under `sent`
AUDIT = "audit_log"

ID = re.compile(r"\b([a-z]{2,8})_[a-z2-7]{26}\b")
UNIX_TIME = re.compile(r"1\d{9}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)")


@cache
def list_known_names() -> dict[str, Any]:
    """Every field of every body and every column of every table, with a suitable value."""
    fields = [field.encode_name for body in all_bodies() for field in msgspec.structs.fields(body)]
    columns = [column for table in schema.metadata.tables.values() for column in table.columns]
    return dict.fromkeys(fields, EXTRA) | {
        column.name: _suitable_value(column) for column in columns
    }


def _suitable_value(column: sa.Column[Any]) -> Any:
    return next(
        (value for type_, value in VALUES_BY_TYPE.items() if isinstance(column.type, type_)), EXTRA
    )


@cache
def list_extra_fields() -> dict[str, dict[str, Any]]:
    """Both booleans, because one of them is the default of its column."""
    names = list_known_names()
    return {
        "value of its type": names,
        "false": {name: value is not True and value for name, value in names.items()},
        "null": dict.fromkeys(names),
    }


def add_fields(type_: inspect.Type, body: Any, extra: dict[str, Any]) -> Any:
    """The body with the extra fields in every object that does not have them."""
    match type_:
        case inspect.StructType(fields=fields) if isinstance(body, dict):
            own = {field.encode_name: field.type for field in fields}
            added = {name: value for name, value in extra.items() if name not in own}
            inner = {name: add_fields(own[name], item, extra) for name, item in body.items()}
            return added | inner
        case inspect.UnionType(types=members):
            for member in members:
                body = add_fields(member, body, extra)
            return body
        case inspect.ListType(item_type=item_type) if isinstance(body, list):
            return [add_fields(item_type, item, extra) for item in body]
        case inspect.DictType(value_type=value_type) if isinstance(body, dict):
            return {key: add_fields(value_type, item, extra) for key, item in body.items()}
    return copy.deepcopy(body)


def mask_generated(value: Any, column: str = "") -> Any:
    """A stored value without the parts that the service generates anew for each organisation.

    Masked are ids, times of these days, hashes and encrypted texts. Anything that a request could
    have sent stays.
    """
    if isinstance(value, dict):
        return {name: mask_generated(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [mask_generated(item, column) for item in value]
    if isinstance(value, int) and column.endswith("_ns"):
        return "time" if abs(value / 1e9 - datetime.now(UTC).timestamp()) < 3600 else value
    if not isinstance(value, str):
        return value
    if value.startswith(("\\x", "$argon2")) or column in ("encrypted", "review_hash"):
        return "hash"
    if column in ("short_name", "key") and not value.startswith(EXTRA):
        return "name"
    return TIME.sub(_mask_recent, ID.sub(r"\1", value))


def _mask_recent(match: re.Match[str]) -> str:
    time = datetime.fromisoformat(match[0])
    return "time" if abs(datetime.now(UTC) - time) < timedelta(days=8) else match[0]


def list_comparable_rows(db: Superuser, organisation_id: str) -> dict[str, list[str]]:
    """All rows of an organisation, comparable with those of one created in the same way."""
    tables = db.list_rows(organisation_id)
    for row in tables[AUDIT]:
        entry = json.loads(row.pop("entry"))
        row["entry"] = {name: item for name, item in entry.items() if name != "sent"}
    return {
        table: sorted(json.dumps(mask_generated(row), sort_keys=True) for row in rows)
        for table, rows in tables.items()
    }


@pytest.fixture(scope="module")
def db(running: Service, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(running, superuser) as connection:
        yield connection


def send_with_extra_fields(
    running: Service, db: Superuser, route: Route, extra: dict[str, Any]
) -> tuple[Any, dict[str, list[str]]]:
    """The response, and all rows of the new organisation that the request was sent in."""
    tenant = new_tenant(running, db, "kanari")
    request = build_valid_request(route, tenant)
    body = add_fields(inspect.type_info(route.body), request.body, extra)
    headers = root_headers(tenant, route, route.products[0])
    response = send_request(tenant, route, RouteRequest(request.path, request.query, body), headers)
    assert response.is_success, response.text
    is_json = "json" in response.headers["Content-Type"]
    answer = mask_generated(response.json()) if is_json else response.content
    return answer, list_comparable_rows(db, tenant.organisation_id)


@pytest.fixture(scope="module")
def tenant(running: Service, db: Superuser) -> Tenant:
    return new_tenant(running, db, "kanari")


@each_write
def test_a_body_is_read_without_its_unknown_fields(tenant: Tenant, route: Route) -> None:
    assert route.body is not None
    valid, type_ = build_valid_request(route, tenant).body, inspect.type_info(route.body)
    expected = parse_body(route.body, decode_json(valid))

    for name, extra in list_extra_fields().items():
        sent = decode_json(add_fields(type_, valid, extra))
        assert parse_body(route.body, sent) == expected, name


def decode_json(body: Any) -> Any:
    """The body as the service receives it: exact numbers, and no enums."""
    return exact_json.decode(json.dumps(body).encode())


@pytest.mark.parametrize("route", SAMPLE, ids=str)
@pytest.mark.parametrize("kind", list_extra_fields())
def test_unknown_fields_change_nothing(
    running: Service, db: Superuser, route: Route, kind: str
) -> None:
    expected_response, expected_rows = send_with_extra_fields(running, db, route, {})

    response, rows = send_with_extra_fields(running, db, route, list_extra_fields()[kind])

    assert rows == expected_rows
    assert without_secrets(response) == without_secrets(expected_response)


def without_secrets(response: Any) -> Any:
    """Secrets, signatures of links and times differ in every response."""
    if not isinstance(response, dict):
        return response
    links = {"path": response["path"].partition("?")[0]} if "path" in response else {}
    times = {name: "" for name, value in response.items() if UNIX_TIME.fullmatch(str(value))}
    tokens = {"access_token": ""} if "access_token" in response else {}
    hidden = dict.fromkeys(("client_secret", "registration_token", "passkey", "secret"), "")
    return response | hidden | tokens | links | times


def test_the_known_names_contain_internal_columns() -> None:
    names, without_true = list_known_names(), list_extra_fields()["false"]

    assert len(names) > 60
    assert {"organisation_id", "password_hash", "kind", "company_id"} <= names.keys()
    assert names["credential_epoch"] == 6_660_666
    assert without_true["revoked"] is False
    assert without_true["company_id"] == EXTRA
    assert WRITES
    assert all(set(PRODUCTS) & set(route.products) for route in WRITES)


def test_fields_are_added_at_every_level_of_a_body() -> None:
    route = next(route for route in WRITES if route.operation == "create_billing_group")
    body = {"billinggroup_id": "a", "invoices": {"aws": {"currency": "jpy"}}}

    changed = add_fields(inspect.type_info(route.body), body, list_known_names())

    assert changed["billinggroup_id"] == "a"
    assert changed["organisation_id"] == EXTRA
    assert changed["invoices"].keys() == {"aws"}
    assert changed["invoices"]["aws"]["currency"] == "jpy"
    assert changed["invoices"]["aws"]["company_id"] == EXTRA


def test_a_changed_column_is_found(running: Service, db: Superuser) -> None:
    expected = new_tenant(running, db, "kanari").organisation_id
    changed = new_tenant(running, db, "kanari").organisation_id
    assert list_comparable_rows(db, changed) == list_comparable_rows(db, expected)

    for change in ("email = 'poison'", "notification_email = true", "create_time = '1999-01-01'"):
        db.sql(f"UPDATE users SET {change} WHERE organisation_id = $1", changed)

        assert list_comparable_rows(db, changed) != list_comparable_rows(db, expected)
        db.sql(
            "UPDATE users SET email = null, notification_email = false, create_time = now() "
            "WHERE organisation_id = $1",
            changed,
        )
