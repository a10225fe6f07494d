"""GET /m/core/audit"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.audit import records
from nimbill.database.tenant_scope import transaction
from nimbill.identity.organisations.operations import NewOrganisation
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.stored import create
from tests.running_service import Service

PATH = "/m/core/audit"


@dataclass
class Log:
    """A shared organisation whose log nobody adds to: seven rows, the fourth by somebody else."""

    service: Service
    organisation: NewOrganisation
    reader: dict[str, str]
    company_ids: list[str]
    other_actor: str

    def seqs(self, query: str = "", headers: dict[str, str] | None = None) -> list[int]:
        answer = self.service.http.get(f"{PATH}?{query}", headers=headers or self.reader)
        assert answer.status_code == 200, answer.text
        return [row["seq"] for row in answer.json()]

    def row(self, seq: int) -> dict[str, Any]:
        (row,) = self.service.http.get(f"{PATH}?before={seq + 1}", headers=self.reader).json()[:1]
        assert row["seq"] == seq
        return dict(row)


@pytest.fixture(scope="module")
def log(running: Service) -> Log:
    organisation = running.new_organisation("Log")
    root = running.root(organisation)
    other = running.caller(RoleAction.ModifyBillingGroup, organisation=organisation)
    callers = [root, root, other, root, root, root]
    company_ids = [
        create(running, headers, billinggroup_id=f"BG-{number}")
        for number, headers in enumerate(callers)
    ]
    reader = running.caller(RoleAction.ReadAudit, organisation=organisation)
    listed = running.http.get(PATH, headers=reader).json()
    return Log(running, organisation, reader, company_ids, listed[3]["actor"])


def test_changes_come_newest_first(log: Log) -> None:
    assert log.seqs() == [7, 6, 5, 4, 3, 2, 1]


def test_an_entry_says_who_when_what_and_its_place_in_the_chain(log: Log) -> None:
    row = log.row(2)

    assert set(row) == {
        *("seq", "hash", "at", "actor", "actor_name", "client_id", "action", "resource"),
        *("company_id", "request_id", "sent"),
    }
    assert re.fullmatch("[0-9a-f]{64}", row["hash"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", row["at"])
    assert row["action"] == "create_billing_group"
    assert row["company_id"] == log.company_ids[0]
    assert row["sent"]["billinggroup_id"] == "BG-0"


def test_from_is_the_first_moment_and_to_is_just_beyond_the_last(log: Log) -> None:
    third, fifth = log.row(3)["at"], log.row(5)["at"]

    assert log.seqs(f"from={third}") == [7, 6, 5, 4, 3]
    assert log.seqs(f"to={fifth}") == [4, 3, 2, 1]
    assert log.seqs(f"from={third}&to={fifth}") == [4, 3]
    assert log.seqs(f"from={fifth}&to={third}") == []


def test_a_time_may_stand_in_any_zone_and_without_one_means_utc(log: Log) -> None:
    at = datetime.fromisoformat(log.row(3)["at"])
    in_tokyo = (at + timedelta(hours=9)).replace(tzinfo=None).isoformat() + "+09:00"
    without = at.replace(tzinfo=None).isoformat()

    assert log.seqs(f"from={quote(in_tokyo)}") == [7, 6, 5, 4, 3]
    assert log.seqs(f"from={without}") == [7, 6, 5, 4, 3]


def test_a_date_is_a_whole_day_in_utc(log: Log) -> None:
    today = datetime.fromisoformat(log.row(7)["at"]).date()
    first_day = datetime.fromisoformat(log.row(1)["at"]).date()
    yesterday, tomorrow = first_day - timedelta(days=1), today + timedelta(days=1)
    everything = [7, 6, 5, 4, 3, 2, 1]

    assert log.seqs(f"from={first_day}&to={today}") == everything
    assert log.seqs(f"from={tomorrow}") == []
    assert log.seqs(f"to={yesterday}") == []
    assert log.seqs("from=0001-01-01&to=9999-12-31") == everything
    assert log.seqs(f"from={first_day}T00:00:00Z&to={tomorrow}T00:00:00Z") == everything
    assert log.seqs("from=9999-12-31") == []


def test_every_date_that_is_none_is_named_at_once(log: Log) -> None:
    answer = log.service.http.get(f"{PATH}?from=2025-02-30&to=2025-13-01", headers=log.reader)

    assert [field for field, _ in violations_of(answer)] == ["from", "to"]


def test_actor_and_resource_are_matched_exactly(log: Log) -> None:
    assert log.seqs(f"actor={log.other_actor}") == [4]
    assert log.seqs(f"actor={log.other_actor[:-1]}") == []
    assert log.seqs("actor=") == []
    assert log.seqs(f"resource=billinggroup/{log.company_ids[4]}") == [6]
    assert log.seqs(f"resource=billinggroup/{log.company_ids[4]}&actor={log.other_actor}") == []
    assert log.seqs("resource=%25") == []


def test_before_pages_on(log: Log) -> None:
    assert log.seqs("before=4") == [3, 2, 1]
    assert log.seqs("before=1") == []
    assert log.seqs(f"before={2**63 - 1}") == [7, 6, 5, 4, 3, 2, 1]


def test_parameters_nobody_knows_are_ignored(log: Log) -> None:
    assert log.seqs("seq=1&limit=1") == [7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    "query",
    [
        *("before=x", "before=", "before=0", "before=-1", "before=1.5", "before=a1"),
        *(f"before={2**63}", f"before={10**40}", "before=１", "before=NaN", "before=%2B"),
    ],
)
def test_a_before_that_is_no_row_number_is_400(log: Log, query: str) -> None:
    answer = log.service.http.get(f"{PATH}?{query}", headers=log.reader)

    assert violations_of(answer) == [("before", "a whole number")]


@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize(
    "value",
    [
        *("", "yesterday", "2025-13-01T00:00:00Z", "2025-02-30T00:00:00Z", "2025-02-30"),
        *("0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-23:59", "10000-01-01T00:00:00Z"),
        *("2025-01-01T24:00:01Z", "2025-01-01T00:00:00%2B99:00", "NaN", "1e400", "9" * 400),
    ],
)
def test_a_time_that_is_none_is_400(log: Log, name: str, value: str) -> None:
    answer = log.service.http.get(f"{PATH}?{name}={value}", headers=log.reader)

    assert violations_of(answer) == [(name, "a date or an RFC 3339 timestamp")]


def test_everything_wrong_is_named_at_once(log: Log) -> None:
    answer = log.service.http.get(f"{PATH}?from=x&to=y&before=z", headers=log.reader)

    assert sorted(field for field, _ in violations_of(answer)) == ["before", "from", "to"]


def test_at_most_a_thousand_come_at_once(service: Service) -> None:
    organisation_id = service.organisation.organisation_id

    async def append() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            for number in range(1005):
                await records.append(
                    db,
                    actor="usr_a",
                    actor_name="a",
                    action="test",
                    resource=f"thing/{number}",
                    request_id="req_a",
                )

    service.run(append)

    first = service.http.get(PATH, headers=service.root()).json()
    rest = service.http.get(f"{PATH}?before={first[-1]['seq']}", headers=service.root()).json()

    assert [row["seq"] for row in first] == list(range(1006, 6, -1))
    assert [row["seq"] for row in rest] == [6, 5, 4, 3, 2, 1]


def test_a_narrowed_caller_sees_changes_to_the_groups_of_the_filter_alone(log: Log) -> None:
    narrowed = log.service.caller(
        RoleAction.ReadAudit, organisation=log.organisation, billing_groups=log.company_ids[1:3]
    )

    assert log.seqs(headers=narrowed) == [4, 3]
    assert log.seqs(f"resource=billinggroup/{log.company_ids[0]}", headers=narrowed) == []


def test_another_organisation_has_its_own_log(log: Log, service: Service) -> None:
    (row,) = service.http.get(PATH, headers=service.root()).json()

    assert row["resource"] == f"organisation/{service.organisation.organisation_id}"


def test_without_the_role_action_it_is_403(service: Service) -> None:
    answer = service.http.get(PATH, headers=service.caller(RoleAction.ReadBillingGroup))

    assert problem_of(answer, 403)["code"] == "role_action_missing"
