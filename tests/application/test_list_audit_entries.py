"""GET /m/core/audit: list the changes of an organisation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from httpx import Response

from nimbill.access.role_actions import RoleAction
from nimbill.audit import records
from nimbill.database.tenant_scope import transaction
from nimbill.identity.organisations.operations import NewOrganisation
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.identity.users.user_requests import add_subuser
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service

PATH = "/m/core/audit"
ALL = [7, 6, 5, 4, 3, 2, 1]


@dataclass
class SharedAuditLog:
    """A shared log of seven rows that no test adds to; the fourth has another actor."""

    service: Service
    organisation: NewOrganisation
    reader: dict[str, str]
    company_ids: list[str]
    other_actor: str

    def get(self, query: str) -> Response:
        return self.service.http.get(f"{PATH}?{query}", headers=self.reader)

    def list_seqs(self, query: str = "", headers: dict[str, str] | None = None) -> list[int]:
        response = self.service.http.get(f"{PATH}?{query}", headers=headers or self.reader)
        assert response.status_code == 200, response.text
        return [row["seq"] for row in response.json()]

    def get_row(self, seq: int) -> dict[str, Any]:
        (row,) = self.get(f"before={seq + 1}").json()[:1]
        assert row["seq"] == seq
        return dict(row)


@pytest.fixture(scope="module")
def log(running: Service) -> SharedAuditLog:
    organisation = running.new_organisation("Log")
    root = running.root(organisation)
    other = running.caller(RoleAction.ModifyBillingGroup, organisation=organisation)
    callers = [root, root, other, root, root, root]
    company_ids = [
        create_billing_group(running, headers, billinggroup_id=f"BG-{number}")
        for number, headers in enumerate(callers)
    ]
    reader = running.caller(RoleAction.ReadAudit, organisation=organisation)
    rows = running.http.get(PATH, headers=reader).json()
    return SharedAuditLog(running, organisation, reader, company_ids, rows[3]["actor"])


def test_changes_are_listed_newest_first(log: SharedAuditLog) -> None:
    assert log.list_seqs() == ALL


def test_an_entry_has_actor_time_change_and_hash(log: SharedAuditLog) -> None:
    row = log.get_row(2)

    assert set(row) == {
        *("seq", "hash", "at", "actor", "actor_name", "client_id", "action", "resource"),
        *("company_id", "request_id", "sent"),
    }
    assert re.fullmatch("[0-9a-f]{64}", row["hash"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", row["at"])
    assert row["action"] == "create_billing_group"
    assert row["company_id"] == log.company_ids[0]
    assert row["sent"]["billinggroup_id"] == "BG-0"


def test_from_is_inclusive_and_to_is_exclusive(log: SharedAuditLog) -> None:
    third, fifth = log.get_row(3)["at"], log.get_row(5)["at"]

    assert log.list_seqs(f"from={third}") == [7, 6, 5, 4, 3]
    assert log.list_seqs(f"to={fifth}") == [4, 3, 2, 1]
    assert log.list_seqs(f"from={third}&to={fifth}") == [4, 3]
    assert log.list_seqs(f"from={fifth}&to={third}") == []


def test_a_time_can_have_any_offset_and_defaults_to_utc(log: SharedAuditLog) -> None:
    at = datetime.fromisoformat(log.get_row(3)["at"])
    in_tokyo = (at + timedelta(hours=9)).replace(tzinfo=None).isoformat() + "+09:00"
    without_offset = at.replace(tzinfo=None).isoformat()

    assert log.list_seqs(f"from={quote(in_tokyo)}") == [7, 6, 5, 4, 3]
    assert log.list_seqs(f"from={without_offset}") == [7, 6, 5, 4, 3]


def test_a_date_is_a_day_in_utc(log: SharedAuditLog) -> None:
    today = datetime.fromisoformat(log.get_row(7)["at"]).date()
    first_day = datetime.fromisoformat(log.get_row(1)["at"]).date()
    yesterday, tomorrow = first_day - timedelta(days=1), today + timedelta(days=1)

    assert log.list_seqs(f"from={first_day}&to={today}") == ALL
    assert log.list_seqs(f"from={tomorrow}") == []
    assert log.list_seqs(f"to={yesterday}") == []
    assert log.list_seqs("from=0001-01-01&to=9999-12-31") == ALL
    assert log.list_seqs(f"from={first_day}T00:00:00Z&to={tomorrow}T00:00:00Z") == ALL
    assert log.list_seqs("from=9999-12-31") == []


def test_actor_and_resource_are_matched_exactly(log: SharedAuditLog) -> None:
    resource = f"resource=billinggroup/{log.company_ids[4]}"

    assert log.list_seqs(f"actor={log.other_actor}") == [4]
    assert log.list_seqs(f"actor={log.other_actor[:-1]}") == []
    assert log.list_seqs("actor=") == []
    assert log.list_seqs(resource) == [6]
    assert log.list_seqs(f"{resource}&actor={log.other_actor}") == []
    assert log.list_seqs("resource=%25") == []


def test_before_returns_the_next_page(log: SharedAuditLog) -> None:
    assert log.list_seqs("before=4") == [3, 2, 1]
    assert log.list_seqs("before=1") == []
    assert log.list_seqs(f"before={2**63 - 1}") == ALL


def test_unknown_parameters_are_ignored(log: SharedAuditLog) -> None:
    assert log.list_seqs("seq=1&page=1") == ALL


def test_an_invalid_before_is_refused(log: SharedAuditLog) -> None:
    values = ["x", "", "0", "-1", "1.5", "a1", 2**63, 10**40, "１", "NaN", "%2B"]

    for value in values:
        violations = read_violations(log.get(f"before={value}"))
        assert violations == [("before", "a whole number")], value


def test_all_invalid_parameters_are_reported_at_once(log: SharedAuditLog) -> None:
    impossible_dates = log.get("from=2025-02-30&to=2025-13-01")
    malformed = log.get("from=x&to=y&before=z")

    assert [field for field, _ in read_violations(impossible_dates)] == ["from", "to"]
    assert sorted(field for field, _ in read_violations(malformed)) == ["before", "from", "to"]


def test_a_page_has_at_most_a_thousand_entries(service: Service) -> None:
    organisation_id = service.organisation.organisation_id

    async def append_entries() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            for number in range(1005):
                await records.append_entry(
                    db,
                    actor="usr_a",
                    actor_name="a",
                    action="test",
                    resource=f"thing/{number}",
                    request_id="req_a",
                )

    service.run(append_entries)

    first = service.http.get(PATH, headers=service.root()).json()
    rest = service.http.get(f"{PATH}?before={first[-1]['seq']}", headers=service.root()).json()

    assert [row["seq"] for row in first] == list(range(1006, 6, -1))
    assert [row["seq"] for row in rest] == [6, 5, 4, 3, 2, 1]


def test_a_restricted_caller_sees_only_changes_of_its_groups(log: SharedAuditLog) -> None:
    restricted = log.service.caller(
        RoleAction.ReadAudit, organisation=log.organisation, billing_groups=log.company_ids[1:3]
    )

    assert log.list_seqs(headers=restricted) == [4, 3]
    assert log.list_seqs(f"resource=billinggroup/{log.company_ids[0]}", headers=restricted) == []


def test_another_organisation_has_its_own_log(log: SharedAuditLog, service: Service) -> None:
    (row,) = service.http.get(PATH, headers=service.root()).json()

    assert row["resource"] == f"organisation/{service.organisation.organisation_id}"


def test_a_caller_without_the_role_action_is_refused(service: Service) -> None:
    response = service.http.get(PATH, headers=service.caller(RoleAction.ReadBillingGroup))

    assert read_problem(response, 403)["code"] == "role_action_missing"


def test_details_name_the_billing_group_and_the_user_of_a_change(service: Service) -> None:
    group = create_billing_group(
        service, service.root(), billinggroup_id="BG-1", billinggroup_name="さくら商事"
    )
    kept, deleted = (add_subuser(service, username=name) for name in ("kept", "deleted"))
    service.http.delete(f"/m/u/users/{deleted['user_id']}", headers=service.root())

    def list_names(headers: dict[str, str]) -> dict[str, tuple[str | None, str | None]]:
        rows = service.http.get(f"{PATH}?details=true", headers=headers).json()
        return {row["resource"]: (row["billinggroup_name"], row["object_username"]) for row in rows}

    names = list_names(service.root())
    assert names[f"billinggroup/{group}"] == ("さくら商事", None)
    assert names[f"user/{kept['user_id']}"] == (None, "kept")
    assert names[f"user/{deleted['user_id']}"] == (None, None)
    restricted = service.caller(RoleAction.ReadAudit, billing_groups=[group])
    assert list_names(restricted) == {f"billinggroup/{group}": ("さくら商事", None)}
    without = service.http.get(PATH, headers=service.root()).json()
    assert all("billinggroup_name" not in row for row in without)
    assert all("object_username" not in row for row in without)


def test_a_search_finds_actions_by_the_names_that_a_page_gives_them(log: SharedAuditLog) -> None:
    assert log.list_seqs(f"search={quote('為替')}") == []
    assert log.list_seqs(f"search={quote('顧客')}&search_actions=close_month") == []
    found = f"search={quote('顧客')}&search_actions=close_month,create_billing_group"
    assert log.list_seqs(found) == [7, 6, 5, 4, 3, 2]
    assert log.list_seqs(f"{found}&actor={log.other_actor}") == [4]
    assert log.list_seqs(f"search={log.company_ids[0]}&search_actions=close_month") == [2]


def test_actions_alone_search_nothing(log: SharedAuditLog) -> None:
    assert log.list_seqs("search_actions=close_month") == ALL


@pytest.mark.parametrize("actions", ["", "a,", "a b", "A", f"a{'b' * 10_000}"])
def test_invalid_actions_of_a_search_are_refused(log: SharedAuditLog, actions: str) -> None:
    read_problem(log.get(f"search=x&search_actions={actions}"), 400)
