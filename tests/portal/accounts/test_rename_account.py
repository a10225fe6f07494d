"""PUT /m/portal/accounts/{customer_id}"""

from __future__ import annotations

import pytest

from tests.invoicing.month_end import MONTH
from tests.portal.portal_scene import FIRST, FOREIGN, SECOND, PortalScene
from tests.problem_responses import read_violations


def read_names(scene: PortalScene) -> set[str]:
    rows = scene.customer.get("/usage/account", month=MONTH)["rows"]
    return {row["customer_name"] for row in rows}


def test_a_new_name_is_shown_in_reports_and_in_billing_administration(scene: PortalScene) -> None:
    renamed = scene.request("PUT", f"/accounts/{SECOND}", {"name": "the shop"})

    assert renamed.json() == {
        "vendor": "aws",
        "customer_id": SECOND,
        "company_id": scene.customer.company_id,
        "name": "the shop",
    }
    assert read_names(scene) == {f"account {FIRST}", "the shop"}
    accounts = scene.customer.month_end.get("/accts?vendor=aws").json()
    (account,) = [each for each in accounts if each["customer_id"] == SECOND]
    assert account["customer_name"] == "the shop"


def test_the_change_is_audited_with_its_company(scene: PortalScene) -> None:
    scene.request("PUT", f"/accounts/{SECOND}", {"name": "audited name"})

    audit = scene.customer.month_end.get(f"/audit?resource=acct/{SECOND}").json()

    entry = next(each for each in audit if each["sent"] == {"name": "audited name"})
    assert entry["company_id"] == scene.customer.company_id
    assert entry["action"] == "rename_account"


@pytest.mark.parametrize("customer_id", [FOREIGN, "999999999999"])
def test_an_account_of_another_company_does_not_exist(scene: PortalScene, customer_id: str) -> None:
    refused = scene.request("PUT", f"/accounts/{customer_id}", {"name": "mine now"})

    assert refused.status_code == 404


def test_a_restricted_user_renames_visible_accounts_only(scene: PortalScene) -> None:
    visible = scene.request("PUT", f"/accounts/{SECOND}", {"name": "by clerk"}, scene.clerk)
    hidden = scene.request("PUT", f"/accounts/{FIRST}", {"name": "by clerk"}, scene.clerk)

    assert (visible.status_code, hidden.status_code) == (200, 404)
    assert f"account {FIRST}" in read_names(scene)


def test_a_name_has_the_length_that_it_has_in_billing_administration(scene: PortalScene) -> None:
    refused = scene.request("PUT", f"/accounts/{SECOND}", {"name": "ab"})

    assert read_violations(refused) == [("name", "length 3 to 100")]
