"""Making an organisation: everything or nothing, also many at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.passwords import password_matches
from nimbill.database.tenant_lookup import LookupKind, find_organisation_id
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.errors import Invalid
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation
from tests.running_service import PASSWORD, Service


def make(service: Service, name: str = "Sakura Inc.", **fields: str) -> NewOrganisation:
    given = {"username": "root", "password": PASSWORD} | fields
    resources = service.resources
    return service.run(
        lambda: create_organisation(resources.engine, resources.sealer, name=name, **given)
    )


def rows(service: Service, organisation_id: str, question: str) -> list[Any]:
    async def ask() -> list[Any]:
        async with transaction(service.resources.engine, organisation_id) as db:
            return list((await db.execute(sa.text(question))).all())

    return service.run(ask)


def short_name(service: Service, organisation_id: str) -> str:
    ((short,),) = rows(service, organisation_id, "SELECT short_name FROM organisations")
    return str(short)


def test_it_has_a_root_user_who_may_do_everything(service: Service) -> None:
    made = make(service)

    answer = service.http.get("/m/core/billinggroup", headers=service.root(made))

    assert answer.status_code == 200
    question = "SELECT user_id, username, kind, root_user FROM users"
    assert rows(service, made.organisation_id, question) == [
        (made.root_user_id, "root", "root", made.root_user_id)
    ]


def test_its_first_client_and_password_open_the_door(service: Service) -> None:
    made = make(service)
    client = {"client_id": made.client_id, "client_secret": made.client_secret}

    for grant in (
        {"grant_type": "client_credentials"},
        {"grant_type": "password", "username": "root", "password": PASSWORD},
    ):
        answer = service.http.post("/core/access_token", data=client | grant)
        assert answer.status_code == 200, answer.text


def test_ids_carry_a_prefix_and_are_longer_than_any_username(service: Service) -> None:
    made = make(service)

    assert made.organisation_id.startswith("org_")
    assert made.root_user_id.startswith("usr_")
    assert min(len(made.organisation_id), len(made.root_user_id), len(made.client_id)) > 18


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"username": "abc"}, ["username"]),
        ({"username": "a" * 19}, ["username"]),
        ({"username": "röot"}, ["username"]),
        ({"username": "ro ot"}, ["username"]),
        ({"password": "1234567"}, ["password"]),
        ({"password": "1" * 19}, ["password"]),
        ({"username": "", "password": ""}, ["username", "password"]),
    ],
)
def test_what_breaks_a_rule_is_refused_and_leaves_nothing(
    service: Service, fields: dict[str, str], broken: list[str]
) -> None:
    name = f"Refused {json.dumps(fields)}"

    with pytest.raises(Invalid) as refusal:
        make(service, name, **fields)

    assert [violation.field for violation in refusal.value.violations] == broken
    for value in fields.values():
        assert not value or value not in repr(refusal.value.violations)


@pytest.mark.parametrize(
    "fields",
    [
        {"username": "abcd", "password": "12345678"},
        {"username": "A-b_c.9" + "x" * 11, "password": "パスワード" * 3 + "123"},
        {"username": "root", "password": " spaces at ends "},
    ],
)
def test_names_and_passwords_at_their_edges_are_taken(
    service: Service, fields: dict[str, str]
) -> None:
    made = make(service, **fields)

    ((stored,),) = rows(service, made.organisation_id, "SELECT password_hash FROM users")
    assert fields["password"] not in stored
    sealer = service.resources.sealer
    assert service.run(lambda: password_matches(fields["password"], stored, sealer))
    assert not service.run(
        lambda: password_matches(fields["password"].strip() + "x", stored, sealer)
    )


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Sakura & Sons, Ltd.", "sakura-sons-ltd"),
        ("  Two   Words ", "two-words"),
        ("x" * 60, "x" * 40),
        ("株式会社さくら", "org"),
        ("---", "org"),
    ],
)
def test_the_short_name_is_made_of_letters_digits_and_hyphens(
    service: Service, name: str, short: str
) -> None:
    made = make(service, name)

    assert short_name(service, made.organisation_id).startswith(short)


def test_two_of_one_name_have_two_short_names(service: Service) -> None:
    one, other = make(service, "Twice Alike"), make(service, "twice alike!")

    shorts = [short_name(service, made.organisation_id) for made in (one, other)]

    assert shorts[0] == "twice-alike"
    assert shorts[1].startswith("twice-alike-")
    assert one.organisation_id != other.organisation_id


def test_many_of_one_name_at_once_are_all_made(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each looks whether the name is free, and waits, before any of them takes it."""

    async def look_and_wait(db: AsyncConnection, kind: LookupKind, key: str) -> str | None:
        found = await find_organisation_id(db, kind, key)
        await asyncio.sleep(0.1)
        return found

    async def no_hash(*_: object) -> str:
        return "!"

    monkeypatch.setattr("nimbill.identity.organisations.operations.organisation_of", look_and_wait)
    monkeypatch.setattr("nimbill.identity.organisations.operations.hash_password", no_hash)

    async def all_at_once() -> list[NewOrganisation]:
        given = {"name": "All At Once", "username": "root", "password": PASSWORD}
        engine, sealer = service.resources.engine, service.resources.sealer
        return await asyncio.gather(
            *(create_organisation(engine, sealer, **given) for _ in range(4))
        )

    made = service.run(all_at_once)

    shorts = {short_name(service, each.organisation_id) for each in made}
    assert len(shorts) == 4
    assert "all-at-once" in shorts


def test_the_first_row_of_its_audit_log_tells_of_it_without_the_password(service: Service) -> None:
    made = make(service, "Sakura Inc.", password="canary-password")

    (row,) = service.http.get("/m/core/audit", headers=service.root(made)).json()

    assert row["seq"] == 1
    assert row["action"] == "create_organisation"
    assert row["actor"] == "command line"
    assert row["resource"] == f"organisation/{made.organisation_id}"
    assert row["sent"] == {"name": "Sakura Inc.", "username": "root"}
    assert "canary-password" not in json.dumps(row)


def test_its_secrets_are_stored_hashed(service: Service) -> None:
    made = make(service)

    stored = repr(rows(service, made.organisation_id, "SELECT * FROM api_clients, users"))

    assert made.client_id in stored
    assert made.client_secret not in stored
    assert PASSWORD not in stored
