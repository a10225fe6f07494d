"""Create an organisation."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.access.passwords import password_matches
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.errors import Invalid
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation
from tests.running_service import PASSWORD, Service


def create(service: Service, name: str = "Sakura Inc.", **fields: str) -> NewOrganisation:
    root_user = {"username": "root", "password": PASSWORD} | fields
    resources = service.resources
    return service.run(
        lambda: create_organisation(resources.engine, resources.encryptor, name=name, **root_user)
    )


def select_rows(service: Service, organisation_id: str, statement: str) -> list[Any]:
    async def select() -> list[Any]:
        async with transaction(service.resources.engine, organisation_id) as db:
            return list((await db.execute(sa.text(statement))).all())

    return service.run(select)


def read_short_name(service: Service, organisation_id: str) -> str:
    ((name,),) = select_rows(service, organisation_id, "SELECT short_name FROM organisations")
    return str(name)


def test_a_new_organisation_has_a_root_user_with_all_permissions(service: Service) -> None:
    organisation = create(service)

    response = service.http.get("/m/core/billinggroup", headers=service.root(organisation))

    assert response.status_code == 200
    statement = "SELECT user_id, username, kind, root_user FROM users"
    assert select_rows(service, organisation.organisation_id, statement) == [
        (organisation.root_user_id, "root", "root", organisation.root_user_id)
    ]


def test_the_first_client_and_the_root_user_can_log_in(service: Service) -> None:
    organisation = create(service)
    client = {"client_id": organisation.client_id, "client_secret": organisation.client_secret}

    for grant in (
        {"grant_type": "client_credentials"},
        {"grant_type": "password", "username": "root", "password": PASSWORD},
    ):
        response = service.http.post("/core/access_token", data=client | grant)
        assert response.status_code == 200, response.text


def test_ids_have_a_prefix_and_are_longer_than_any_username(service: Service) -> None:
    organisation = create(service)

    assert organisation.organisation_id.startswith("org_")
    assert organisation.root_user_id.startswith("usr_")
    assert (
        min(
            len(organisation.organisation_id),
            len(organisation.root_user_id),
            len(organisation.client_id),
        )
        > 18
    )


@pytest.mark.parametrize(
    ("fields", "invalid_fields"),
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
def test_invalid_usernames_and_passwords_are_refused_without_repeating_them(
    service: Service, fields: dict[str, str], invalid_fields: list[str]
) -> None:
    name = f"Refused {json.dumps(fields)}"

    with pytest.raises(Invalid) as refusal:
        create(service, name, **fields)

    assert [violation.field for violation in refusal.value.violations] == invalid_fields
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
def test_usernames_and_passwords_at_the_limits_are_accepted(
    service: Service, fields: dict[str, str]
) -> None:
    organisation = create(service, **fields)

    ((password_hash,),) = select_rows(
        service, organisation.organisation_id, "SELECT password_hash FROM users"
    )
    assert fields["password"] not in password_hash
    encryptor = service.resources.encryptor
    assert service.run(lambda: password_matches(fields["password"], password_hash, encryptor))
    assert not service.run(
        lambda: password_matches(fields["password"].strip() + "x", password_hash, encryptor)
    )


@pytest.mark.parametrize(
    ("name", "short_name"),
    [
        ("Sakura & Sons, Ltd.", "sakura-sons-ltd"),
        ("  Two   Words ", "two-words"),
        ("x" * 60, "x" * 40),
        ("株式会社さくら", "org"),
        ("---", "org"),
    ],
)
def test_the_short_name_consists_of_letters_digits_and_hyphens(
    service: Service, name: str, short_name: str
) -> None:
    organisation = create(service, name)

    assert read_short_name(service, organisation.organisation_id).startswith(short_name)


def test_two_organisations_of_the_same_name_have_different_short_names(service: Service) -> None:
    first, second = create(service, "Twice Alike"), create(service, "twice alike!")

    assert read_short_name(service, first.organisation_id) == "twice-alike"
    assert read_short_name(service, second.organisation_id).startswith("twice-alike-")
    assert first.organisation_id != second.organisation_id


def test_the_first_audit_row_shows_the_creation_without_the_password(service: Service) -> None:
    organisation = create(service, "Sakura Inc.", password="canary-password")

    (row,) = service.http.get("/m/core/audit", headers=service.root(organisation)).json()

    assert row["seq"] == 1
    assert row["action"] == "create_organisation"
    assert row["actor"] == "command line"
    assert row["resource"] == f"organisation/{organisation.organisation_id}"
    assert row["sent"] == {"name": "Sakura Inc.", "username": "root"}
    assert "canary-password" not in json.dumps(row)


def test_secrets_are_stored_as_hashes(service: Service) -> None:
    organisation = create(service)

    stored = repr(
        select_rows(service, organisation.organisation_id, "SELECT * FROM api_clients, users")
    )

    assert organisation.client_id in stored
    assert organisation.client_secret not in stored
    assert PASSWORD not in stored
