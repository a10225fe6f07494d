"""GET /m/core/audit?details=true names billing groups and users."""

from __future__ import annotations

from nimbill.application.audit_routes import find_user_id
from tests.invoicing.month_end import MonthEnd


def test_entries_name_their_billing_group_and_user(month_end: MonthEnd) -> None:
    company_id = month_end.create_group("BG-1", "222222222222")

    plain = month_end.get("/audit?action=create_billing_group").json()[0]
    named = month_end.get("/audit?action=create_billing_group&details=true").json()[0]

    assert plain["company_id"] == named["company_id"] == company_id
    assert "billinggroup_name" not in plain
    group = month_end.get(f"/billinggroup/{company_id}/resource").json()
    assert named["billinggroup_name"] == group["billinggroup_name"]
    assert named["object_username"] is None


def test_a_resource_names_a_user_only_if_it_is_one() -> None:
    assert find_user_id("user/usr_1/password") == "usr_1"
    assert find_user_id("userroles/usr_1") == "usr_1"
    assert find_user_id("billinggroup/cmp_1") == ""
