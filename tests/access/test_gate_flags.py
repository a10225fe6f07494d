"""What a flag of the portal decides: users of others need it, one's own login does not."""

from __future__ import annotations

from tests.customers.resellers.reseller_accounts import company, create_reseller
from tests.problem_responses import read_problem
from tests.running_service import Service

__all__ = ["company"]  # fixture

WITHOUT = {"users_management": False}


def test_the_sessions_of_others_need_the_flag_and_ones_own_do_not(
    service: Service, company: str
) -> None:
    caller = create_reseller(service, company, meta=WITHOUT)
    other = create_reseller(service, company, email="other@example.com")

    own = service.http.get(f"/m/u/users/{caller.user_id}/sessions", headers=caller.portal)
    others = service.http.get(f"/m/u/users/{other.user_id}/sessions", headers=caller.portal)

    assert own.status_code == 200, own.text
    assert read_problem(others, 403)["code"] == "flag_off"
