"""DELETE /m/core/billinggroup/{company_id}"""

from __future__ import annotations

from functools import partial
from typing import Any

import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import transaction
from tests.customers.billing_groups.billing_groups import (
    PATH,
    add_project,
    create_billing_group,
    list_group_ids,
)
from tests.customers.billing_groups.sample_bodies import FREE_FORMAT_ITEM, VALID_SETTING
from tests.customers.cloud_accounts.accounts import AWS, add_account, list_accounts, post_account
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service
from tests.subusers import run_concurrently


def delete(service: Service, company_id: str, headers: Any = None) -> HttpResponse:
    return service.http.delete(f"{PATH}/{company_id}", headers=headers or service.root())


def count_rows(service: Service, company_id: str) -> dict[str, int]:
    """Count the stored rows of the group per table."""

    async def count() -> dict[str, int]:
        organisation_id = service.organisation.organisation_id
        counts = {}
        async with transaction(service.resources.engine, organisation_id) as db:
            for table in ("billing_groups", "invoice_settings", "free_format_items"):
                stmt = sa.text(f"SELECT count(*) FROM {table} WHERE company_id = :company_id")
                counts[table] = (await db.execute(stmt, {"company_id": company_id})).scalar_one()
        return counts

    return service.run(count)


def create_full_group(service: Service, billinggroup_id: str) -> str:
    """Create a group with two invoice settings and two free format items."""
    company_id = create_billing_group(
        service,
        service.root(),
        billinggroup_id=billinggroup_id,
        invoices={"aws": VALID_SETTING, "azure": VALID_SETTING},
    )
    service.http.post(
        f"{PATH}/{company_id}/freeformat/aws",
        json={"additional_items": [FREE_FORMAT_ITEM, FREE_FORMAT_ITEM]},
        headers=service.root(),
    )
    return company_id


def test_settings_and_items_of_only_this_group_are_deleted(service: Service) -> None:
    company_id, other = create_full_group(service, "BG"), create_full_group(service, "other")
    before = {"billing_groups": 1, "invoice_settings": 2, "free_format_items": 2}
    assert count_rows(service, company_id) == before

    response = delete(service, company_id)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert set(count_rows(service, company_id).values()) == {0}
    assert count_rows(service, other) == before
    assert list_group_ids(service) == ["other"]


def test_the_id_of_a_deleted_group_can_be_used_again(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    delete(service, company_id)

    assert create_billing_group(service, service.root(), billinggroup_id="BG") != company_id


def test_the_project_of_a_deleted_group_is_kept(service: Service) -> None:
    add_project(service, "prj_one")
    company_id = create_billing_group(
        service, service.root(), billinggroup_id="BG", project_id="prj_one"
    )

    assert delete(service, company_id).status_code == 200

    projects = service.http.get("/m/core/project", headers=service.root()).json()
    assert [project["project_id"] for project in projects] == ["prj_one"]


def test_a_group_with_an_account_cannot_be_deleted(service: Service) -> None:
    company_id = create_full_group(service, "BG")
    customer_id = add_account(service, company_id)

    response = delete(service, company_id)

    assert read_problem(response, 409)["code"] == "billing_group_in_use"
    assert count_rows(service, company_id)["invoice_settings"] == 2
    service.http.delete(f"{ACCOUNTS}/aws/{customer_id}|{AWS['account_id']}", headers=service.root())
    assert delete(service, company_id).status_code == 200


def test_a_group_with_a_reseller_cannot_be_deleted(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    reseller = {
        "email": "sakura@example.com",
        "company_id": company_id,
        "input_type": "Custom",
        "password": "correct horse",
        "notification": False,
        "meta": {},
    }
    created = service.http.post("/m/core/reseller", json=reseller, headers=service.root())
    assert created.status_code == 200, created.text

    assert read_problem(delete(service, company_id), 409)["code"] == "billing_group_in_use"

    path = f"/m/core/reseller/{created.json()['user_id']}"
    assert service.http.delete(path, headers=service.root()).status_code == 200
    assert delete(service, company_id).status_code == 200


def test_unknown_foreign_hidden_and_deleted_groups_are_not_found(service: Service) -> None:
    root = service.root()
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")
    hidden = create_billing_group(service, root, billinggroup_id="hidden")
    hidden_in_use = create_billing_group(service, root, billinggroup_id="hidden and in use")
    add_account(service, hidden_in_use)
    visible = create_billing_group(service, root, billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[visible])
    assert delete(service, visible, restricted).status_code == 200

    for company_id in ("cmp_unknown", "hidden", foreign, hidden, hidden_in_use, visible):
        assert read_problem(delete(service, company_id, restricted), 404)["code"] == "not_found"
    assert list_group_ids(service) == ["hidden", "hidden and in use"]


def test_an_account_added_during_the_deletion_prevents_it_or_is_refused(service: Service) -> None:
    for number in range(4):
        company_id = create_billing_group(service, service.root(), billinggroup_id=f"BG-{number}")
        account = AWS | {"customer_id": f"{number:012d}", "company_id": company_id}

        deleted, added = run_concurrently(
            [partial(delete, service, company_id), partial(post_account, service, account)]
        )

        outcome = (deleted.status_code, added.status_code)
        assert outcome in {(200, 400), (200, 409), (409, 200)}
    groups_with_accounts = {account["company_id"] for account in list_accounts(service, "aws")}
    assert len(list_group_ids(service)) == len(groups_with_accounts)
