"""Statements that are compiled once and executed by the driver."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.database.compiled_statement import (
    CompiledStatement,
    is_any_of_parameter,
    text_parameter,
)
from nimbill.database.tenant_scope import transaction
from nimbill.identity.users.records import users
from tests.running_service import Service

LIST_USERS = CompiledStatement(
    sa.select(users.c.username, users.c.user_id, sa.func.count().label("number"))
    .where(
        users.c.organisation_id == text_parameter("organisation"),
        is_any_of_parameter(users.c.username, "names"),
        users.c.username != "nobody",
    )
    .group_by(users.c.username, users.c.user_id)
)


def fetch(service: Service, organisation_id: str, names: list[str]) -> Any:
    async def run() -> Any:
        tenant = service.organisation.organisation_id
        async with transaction(service.resources.engine, tenant) as db:
            return await LIST_USERS.fetch(db, organisation=organisation_id, names=names)

    return service.run(run)


def test_parameters_and_columns_have_names(service: Service) -> None:
    organisation_id = service.organisation.organisation_id

    (row,) = fetch(service, organisation_id, ["root", "nobody"])

    assert (row.username, row.number) == ("root", 1)
    assert row.user_id == service.organisation.root_user_id
    assert fetch(service, organisation_id, []) == []


def test_rows_of_other_organisations_stay_hidden(service: Service) -> None:
    other = service.new_organisation()

    assert fetch(service, other.organisation_id, ["root"]) == []
