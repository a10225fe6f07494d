"""Fields nobody asked for: every name we know, put into every body, changes nothing."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from msgspec import inspect

from nimbill.application import schema
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.product import Product
from nimbill.legacy.audiences import LEGACY
from tests.contract.basis_marks import all_bodies
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.route_requests import RouteRequest, send_request, root_headers, build_valid_request
from tests.contract.superuser import Superuser, connect_superuser
from tests.contract.tenants import new_tenant
from tests.running_service import Service

WRITES = [route for route in protected_routes() if route.is_mutating and route.body is not None]
each_write = pytest.mark.parametrize("route", WRITES, ids=str)

POISON = "poison"
# what a column of a type could take; anything else gets a text
OF_TYPE: dict[type, Any] = {
    sa.Boolean: True,
    sa.Integer: 6_660_666,
    sa.Numeric: 6_660_666,
    sa.DateTime: "1999-12-31T23:59:59Z",
    sa.ARRAY: [POISON],
    sa.JSON: {POISON: POISON},
}
# what was sent is kept there on purpose, under `sent`
AUDIT = "audit_log"

ID = re.compile(r"\b([a-z]{2,8})_[a-z2-7]{26}\b")
UNIX_TIME = re.compile(r"1\d{9}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)")


def known_names() -> dict[str, Any]:
    """Every field of every body and every column of every table, with a value it could take."""
    fields = [one.encode_name for body in all_bodies() for one in msgspec.structs.fields(body)]
    columns = [column for table in schema.metadata.tables.values() for column in table.columns]
    return dict.fromkeys(fields, POISON) | {column.name: _fitting(column) for column in columns}


def _fitting(column: sa.Column[Any]) -> Any:
    return next((OF_TYPE[kind] for kind in OF_TYPE if isinstance(column.type, kind)), POISON)


# both truths, because one of them is what would have been stored anyway
POISONS: dict[str, dict[str, Any]] = {
    "value of its type": known_names(),
    "false": {name: value is not True and value for name, value in known_names().items()},
    "null": dict.fromkeys(known_names()),
}


def poisoned(kind: inspect.Type, body: Any, poison: dict[str, Any]) -> Any:
    """The body with every known name added wherever its struct does not know it."""
    match kind:
        case inspect.StructType(fields=fields) if isinstance(body, dict):
            own = {one.encode_name: one.type for one in fields}
            extra = {name: value for name, value in poison.items() if name not in own}
            inner = {name: poisoned(own[name], item, poison) for name, item in body.items()}
            return extra | inner
        case inspect.UnionType(types=kinds):
            for one in kinds:
                body = poisoned(one, body, poison)
            return body
        case inspect.ListType(item_type=item_type) if isinstance(body, list):
            return [poisoned(item_type, item, poison) for item in body]
        case inspect.DictType(value_type=value_type) if isinstance(body, dict):
            return {key: poisoned(value_type, item, poison) for key, item in body.items()}
    return copy.deepcopy(body)


def settled(value: Any, column: str = "") -> Any:
    """A stored value without what differs from one organisation to the next by nature.

    Only what looks as if we had just made it is taken out: an id of ours, a moment of the last
    hour, a hash. Anything a caller could have sent stays as it is.
    """
    if isinstance(value, dict):
        return {name: settled(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [settled(item, column) for item in value]
    if isinstance(value, int) and column.endswith("_ns"):
        return "time" if abs(value / 1e9 - datetime.now(UTC).timestamp()) < 3600 else value
    if not isinstance(value, str):
        return value
    if value.startswith(("\\x", "$argon2")):
        return "hash"
    if column in ("short_name", "key") and not value.startswith(POISON):
        return "name"
    return TIME.sub(_recent, ID.sub(r"\1", value))


def _recent(found: re.Match[str]) -> str:
    at = datetime.fromisoformat(found[0])
    return "time" if abs(datetime.now(UTC) - at) < timedelta(hours=1) else found[0]


def stored(behind: Superuser, organisation_id: str) -> dict[str, list[str]]:
    """All rows of an organisation, comparable with those of another one made the same way."""
    rows = behind.list_rows(organisation_id)
    for row in rows[AUDIT]:
        entry = json.loads(row.pop("entry"))
        row["entry"] = {name: item for name, item in entry.items() if name != "sent"}
    return {
        table: sorted(json.dumps(settled(row), sort_keys=True) for row in found)
        for table, found in rows.items()
    }


@pytest.fixture(scope="module")
def behind(running: Service, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(running, superuser) as found:
        yield found


def written(
    running: Service, behind: Superuser, route: Route, poison: dict[str, Any]
) -> tuple[Any, dict[str, list[str]]]:
    """What a request answered and left, in an organisation of its own."""
    tenant = new_tenant(running, behind, "kanari")
    sent = build_valid_request(route, tenant)
    body = poisoned(inspect.type_info(route.body), sent.body, poison)
    headers = root_headers(tenant, route, route.products[0])
    answer = send_request(tenant, route, RouteRequest(sent.path, sent.query, body), headers)
    assert answer.is_success, answer.text
    return settled(answer.json()), stored(behind, tenant.organisation_id)


@each_write
def test_unknown_fields_change_nothing(running: Service, behind: Superuser, route: Route) -> None:
    plain_answer, plain = written(running, behind, route, {})

    for name, poison in POISONS.items():
        answer, rows = written(running, behind, route, poison)

        assert rows == plain, f"a {name} was taken from a field nobody asked for"
        assert without_secrets(answer) == without_secrets(plain_answer)


def without_secrets(answer: Any) -> Any:
    """A secret is made afresh for each caller, and so is the signature of a link; time goes on."""
    if not isinstance(answer, dict):
        return answer
    links = {"path": answer["path"].partition("?")[0]} if "path" in answer else {}
    moments = {name: "" for name, value in answer.items() if UNIX_TIME.fullmatch(str(value))}
    return answer | {"client_secret": ""} | links | moments


def test_there_is_something_to_add() -> None:
    names = known_names()

    assert len(names) > 60
    assert {"organisation_id", "password_hash", "kind", "company_id"} <= names.keys()
    assert names["credential_epoch"] == 6_660_666
    assert POISONS["false"]["revoked"] is False
    assert POISONS["false"]["company_id"] == POISON
    assert WRITES
    assert all({Product.core, LEGACY} & set(route.products) for route in WRITES)


def test_every_level_of_a_body_is_poisoned() -> None:
    route = next(route for route in WRITES if route.operation == "create_billing_group")
    body = {"billinggroup_id": "a", "invoices": {"aws": {"currency": "jpy"}}}

    found = poisoned(inspect.type_info(route.body), body, known_names())

    assert found["billinggroup_id"] == "a"
    assert found["organisation_id"] == POISON
    assert found["invoices"].keys() == {"aws"}
    assert found["invoices"]["aws"]["currency"] == "jpy"
    assert found["invoices"]["aws"]["company_id"] == POISON


def test_a_column_that_was_written_is_found(running: Service, behind: Superuser) -> None:
    """The comparison sees a text, a truth and a moment that do not belong."""
    tenant = new_tenant(running, behind, "kanari")
    twin = new_tenant(running, behind, "kanari")
    assert stored(behind, tenant.organisation_id) == stored(behind, twin.organisation_id)

    for change in ("email = 'poison'", "notification_email = true", "create_time = '1999-01-01'"):
        behind.sql(f"UPDATE users SET {change} WHERE organisation_id = $1", twin.organisation_id)

        assert stored(behind, tenant.organisation_id) != stored(behind, twin.organisation_id)
        behind.sql(
            "UPDATE users SET email = null, notification_email = false, create_time = now() "
            "WHERE organisation_id = $1",
            twin.organisation_id,
        )
