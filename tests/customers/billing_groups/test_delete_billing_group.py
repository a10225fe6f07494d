"""DELETE /m/core/billinggroup/{company_id}"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import transaction
from tests.answers import Answer, problem_of
from tests.customers.billing_groups.bodies import SOUND_SETTING
from tests.customers.billing_groups.stored import PATH, add_project, create
from tests.customers.billing_groups.test_free_format import ITEM
from tests.customers.cloud_accounts.accounts import AWS, accounts, add_account
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.people import all_at_once
from tests.running_service import Service


def delete(service: Service, company_id: str, headers: Any = None) -> Answer:
    return service.http.delete(f"{PATH}/{company_id}", headers=headers or service.root())


def ids(service: Service) -> list[str]:
    answer = service.http.get(PATH, headers=service.root())
    return [record["billinggroup_id"] for record in answer.json()]


def rows_of(service: Service, company_id: str) -> dict[str, int]:
    async def count() -> dict[str, int]:
        organisation_id = service.organisation.organisation_id
        found = {}
        async with transaction(service.resources.engine, organisation_id) as db:
            for table in ("billing_groups", "invoice_settings", "free_format_items"):
                question = sa.text(f"SELECT count(*) FROM {table} WHERE company_id = :company_id")
                found[table] = (await db.execute(question, {"company_id": company_id})).scalar_one()
        return found

    return service.run(count)


def full_group(service: Service, billinggroup_id: str) -> str:
    settings = {"aws": SOUND_SETTING, "azure": SOUND_SETTING}
    company_id = create(service, service.root(), billinggroup_id=billinggroup_id, invoices=settings)
    service.http.post(
        f"{PATH}/{company_id}/freeformat/aws",
        json={"additional_items": [ITEM, ITEM]},
        headers=service.root(),
    )
    return company_id


def test_settings_and_items_go_with_the_group_and_no_others(service: Service) -> None:
    company_id, other = full_group(service, "BG"), full_group(service, "other")
    before = {"billing_groups": 1, "invoice_settings": 2, "free_format_items": 2}
    assert rows_of(service, company_id) == before

    answer = delete(service, company_id)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert set(rows_of(service, company_id).values()) == {0}
    assert rows_of(service, other) == before
    assert ids(service) == ["other"]


def test_its_id_is_free_again(service: Service) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")
    delete(service, company_id)

    assert create(service, service.root(), billinggroup_id="BG") != company_id


def test_its_project_stays(service: Service) -> None:
    add_project(service, "prj_one")
    company_id = create(service, service.root(), billinggroup_id="BG", project_id="prj_one")

    assert delete(service, company_id).status_code == 200

    projects = service.http.get("/m/core/project", headers=service.root()).json()
    assert [project["project_id"] for project in projects] == ["prj_one"]


def test_refused_while_an_account_hangs_on_it(service: Service) -> None:
    company_id = full_group(service, "BG")
    customer_id = add_account(service, company_id)

    answer = delete(service, company_id)

    assert problem_of(answer, 409)["code"] == "billing_group_in_use"
    assert rows_of(service, company_id)["invoice_settings"] == 2
    service.http.delete(f"{ACCOUNTS}/aws/{customer_id}|{AWS['account_id']}", headers=service.root())
    assert delete(service, company_id).status_code == 200


def test_refused_while_a_reseller_hangs_on_it(service: Service) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")
    reseller = {
        "email": "sakura@example.com",
        "company_id": company_id,
        "input_type": "Custom",
        "password": "correct horse",
        "notification": False,
        "meta": {},
    }
    made = service.http.post("/m/core/reseller", json=reseller, headers=service.root())
    assert made.status_code == 200, made.text

    assert problem_of(delete(service, company_id), 409)["code"] == "billing_group_in_use"

    path = f"/m/core/reseller/{made.json()['user_id']}"
    assert service.http.delete(path, headers=service.root()).status_code == 200
    assert delete(service, company_id).status_code == 200


def test_unknown_foreign_hidden_and_deleted_groups_are_not_there(service: Service) -> None:
    other = service.new_organisation()
    foreign = create(service, service.root(other), billinggroup_id="theirs")
    hidden = create(service, service.root(), billinggroup_id="hidden")
    held = create(service, service.root(), billinggroup_id="hidden and held")
    add_account(service, held)
    seen = create(service, service.root(), billinggroup_id="seen")
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[seen])
    assert delete(service, seen, narrowed).status_code == 200

    for company_id in ("cmp_never_was", "hidden", foreign, hidden, held, seen):
        assert problem_of(delete(service, company_id, narrowed), 404)["code"] == "not_found"
    assert ids(service) == ["hidden", "hidden and held"]


def test_an_account_that_comes_at_the_same_moment_holds_it_or_finds_it_gone(
    service: Service,
) -> None:
    for number in range(4):
        company_id = create(service, service.root(), billinggroup_id=f"BG-{number}")
        account = AWS | {"customer_id": f"{number:012d}", "company_id": company_id}

        deleted, added = all_at_once(
            [
                lambda: delete(service, company_id),  # noqa: B023  # called in this round
                lambda: service.http.post(ACCOUNTS, json=account, headers=service.root()),  # noqa: B023
            ]
        )

        outcome = (deleted.status_code, added.status_code)
        assert outcome in {(200, 400), (200, 409), (409, 200)}
    listed = {account["company_id"] for account in accounts(service, "aws")}
    assert len(ids(service)) == len(listed)
