"""GET /m/core/costs/{month}: two tags, or a tag and days, from sums by the keys of reports"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.costs.lake.parquet_files import Lake
from nimbill.identity.organisations.operations import NewOrganisation
from tests.costs.generated_months import build_line, generate_month
from tests.costs.stored_months import store_month
from tests.costs.test_read_costs import ACCOUNT, PATH, get_costs
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser

KEYS = ["user:Team", "user:team", "チーム"]
TWO_TAGS = "tag:user:Team,tag:チーム"
GROUPINGS = [
    TWO_TAGS,
    "tag:チーム,service,tag:user:team",
    "day,tag:user:Team",
    "account,tag:user:team,line_type,day,tag:user:Team",
]
UNTAGGED, PARTLY = "2026-10", "2026-11"


@pytest.fixture(scope="module")
def stored(running: Service) -> NewOrganisation:
    """A month with sums by three keys, one without, and one with them for one of two payers."""
    running.organisation = running.new_organisation()
    lines = generate_month(11, 300)
    store_month(running, lines, tag_keys=KEYS)
    store_month(running, lines, month=UNTAGGED)
    store_month(running, [build_line(payer_id="100000000001")], month=PARTLY, tag_keys=KEYS)
    store_month(running, [build_line(payer_id="100000000002")], month=PARTLY, tag_keys=KEYS[:1])
    return running.organisation


@pytest.fixture
def service(running: Service, stored: NewOrganisation) -> Service:
    running.organisation = stored
    return running


@pytest.fixture
def without_lake(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_lake: Lake, _names: object) -> None:
        raise OSError

    monkeypatch.setattr(Lake, "addresses", fail)


def list_rows(answer: dict[str, Any]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in answer["rows"])


@pytest.mark.parametrize("by", GROUPINGS)
def test_stored_sums_are_those_of_the_lines(
    service: Service, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_lines = get_costs(service, f"?by={by}", month=UNTAGGED)
    monkeypatch.setattr(Lake, "addresses", None)  # reading the lake would fail

    from_sums = get_costs(service, f"?by={by}")

    assert list_rows(from_sums) == list_rows(from_lines)
    assert list(from_sums["rows"][0]) == list(from_lines["rows"][0])
    assert len(from_sums["rows"]) > 20


@pytest.mark.usefixtures("without_lake")
def test_a_page_of_stored_sums_has_the_totals_of_all(service: Service) -> None:
    complete = get_costs(service, f"?by={TWO_TAGS}")

    page = get_costs(service, f"?by={TWO_TAGS}&limit=3&offset=2")

    assert page == complete | {"rows": complete["rows"][2:5]}


@pytest.mark.usefixtures("without_lake")
@pytest.mark.parametrize(
    ("month", "by"),
    [("2026-09", "tag:user:Team,tag:other"), (PARTLY, TWO_TAGS), (UNTAGGED, "day,tag:user:Team")],
)
def test_a_month_that_lacks_a_key_needs_the_lines(service: Service, month: str, by: str) -> None:
    response = service.http.get(f"{PATH}/{month}?by={by}", headers=service.root())

    assert read_problem(response, 503)["code"] == "cost_lines_unavailable"


def test_a_restricted_caller_sees_its_own_accounts_in_stored_sums(running: Service) -> None:
    running.organisation = running.new_organisation()
    own = create_billing_group(running, running.root(), billinggroup_id="BG")
    add_account(running, own, customer_id=ACCOUNT)
    lines = [build_line(customer_id=id_, tags=[("a", id_)]) for id_ in (ACCOUNT, "999999999999")]
    store_month(running, lines, tag_keys=["a", "b"])
    caller = create_subuser(running, core=["ReadCost"], filters=[("core", "billingGroup", own)])

    answer = running.http.get(f"{PATH}/2026-09?by=tag:a,tag:b", headers=caller.core)

    assert [row["tag_value"] for row in answer.json()["rows"]] == [ACCOUNT]
