"""A caller restricted to one billing group can neither see, change nor detect another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import transaction
from tests.customers.billing_groups.billing_groups import PATH as GROUPS
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.billing_groups.sample_bodies import (
    FREE_FORMAT_ITEM,
    VALID_SETTING,
    VALID_SETTING_UPDATE,
)
from tests.customers.cloud_accounts.accounts import AWS, add_account
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.invoicing.exports.export_requests import parse_rows
from tests.problem_responses import HttpResponse
from tests.running_service import Service
from tests.subusers import create_subuser

RESELLERS = "/m/core/reseller"
HIDDEN = "kanarienvogel"  # in every text of the hidden group
HIDDEN_NUMBER = "424242424242"  # its account, and the payer of that
SEEN_NUMBER = "000000000001"

RESELLER: dict[str, Any] = {
    "input_type": "Custom",
    "password": "correct horse",
    "notification": False,
    "meta": {},
}
CORE = [action for action in RoleAction if action is not RoleAction.Admin]


@dataclass(frozen=True)
class RestrictedScene:
    """An organisation with a visible and a hidden group, and a caller restricted to the first."""

    service: Service
    root: dict[str, str]
    restricted: dict[str, str]
    seen: str
    hidden: str
    hidden_reseller: str

    def request(self, method: str, path: str, body: Any = None) -> HttpResponse:
        sent = {} if body is None else {"json": body}
        return self.service.http.request(method, path, headers=self.restricted, **sent)

    def load_groups(self) -> list[Any]:
        """Return both groups as the root user sees them."""
        paths = (GROUPS, f"{ACCOUNTS}?vendor=aws", RESELLERS)
        return [self.service.http.get(path, headers=self.root).json() for path in paths]


def create_full_group(service: Service, name: str, number: str) -> tuple[str, str]:
    """Create a group with all kinds of records; return its id and that of its reseller."""
    texts = ("billinggroup_name", "company_name", "phone", "postal", "address", "personal")
    company_id = create_group(
        service,
        service.root(),
        billinggroup_id=name,
        invoices={"aws": VALID_SETTING},
        **dict.fromkeys((*texts, "billing_title", "remarks"), name),
    )
    items = {"additional_items": [FREE_FORMAT_ITEM | {"label": name}]}
    service.http.post(f"{GROUPS}/{company_id}/freeformat/aws", json=items, headers=service.root())
    numbers = {"customer_id": number, "account_id": number}
    add_account(service, company_id, **numbers, name=name, note=name)
    reseller = RESELLER | {"company_id": company_id, "email": f"{name}@example.com"}
    response = service.http.post(RESELLERS, json=reseller, headers=service.root())
    assert response.status_code == 200, response.text
    return company_id, response.json()["user_id"]


@pytest.fixture(scope="module")
def scene(running: Service) -> RestrictedScene:
    running.organisation = running.new_organisation()
    seen, _ = create_full_group(running, "sichtbar", SEEN_NUMBER)
    hidden, reseller = create_full_group(running, HIDDEN, HIDDEN_NUMBER)
    restricted = running.caller(*CORE, billing_groups=[seen])
    return RestrictedScene(running, running.root(), restricted, seen, hidden, reseller)


def hides_everything(scene: RestrictedScene, text: str) -> bool:
    secrets = (HIDDEN, HIDDEN_NUMBER, scene.hidden, scene.hidden_reseller)
    return not any(secret in text for secret in secrets)


def comparable(response: HttpResponse) -> tuple[int, str]:
    """Return status and text without the request id."""
    return response.status_code, response.text.replace(response.headers["x-request-id"], "")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", GROUPS),
        ("GET", f"{GROUPS}?limit=10000&offset=0"),
        ("GET", f"{ACCOUNTS}?vendor=aws"),
        ("GET", f"{ACCOUNTS}?vendor=aws&limit=10000"),
        ("GET", RESELLERS),
        ("POST", RESELLERS),
        ("GET", "/m/core/audit"),
    ],
)
def test_lists_show_only_the_visible_group(scene: RestrictedScene, method: str, path: str) -> None:
    response = scene.request(method, path)

    assert response.status_code == 200
    assert scene.seen in response.text
    assert hides_everything(scene, response.text)
    unrestricted = scene.service.http.request(method, path, headers=scene.root)
    assert not hides_everything(scene, unrestricted.text)


@pytest.mark.parametrize("path", ["/m/core/project", "/m/core/invoicetemplate", "/m/core/settings"])
def test_records_of_the_organisation_do_not_mention_the_hidden_group(
    scene: RestrictedScene, path: str
) -> None:
    response = scene.request("GET", path)

    assert response.status_code == 200
    assert hides_everything(scene, response.text)


@pytest.mark.parametrize("kind", ["billing-group", "billing-group-setting"])
@pytest.mark.parametrize("redo", [False, True])
def test_exports_contain_only_the_visible_group(
    scene: RestrictedScene, kind: str, *, redo: bool
) -> None:
    """Also if a file with all groups was created just before."""
    path, body = f"/m/core/exportcsv/{kind}", {"redo": redo}
    scene.service.http.post(path, json={"redo": False}, headers=scene.root)

    link = urlsplit(scene.request("POST", path, body).json()["path"])
    file = scene.service.http.get(f"{link.path}?{link.query}")

    assert file.status_code == 200
    _, *rows = parse_rows(file.content)
    assert [row[0] for row in rows] == ["sichtbar"]
    assert hides_everything(scene, file.text)


UPDATE = {"billinggroup_id": "x", "billinggroup_name": "x", "company_name": "x"}
ACCOUNT = {name: AWS[name] for name in ("vendor", "account_id", "name")}

# method, path with a placeholder for the id, body, and which id replaces it
REQUESTS_BY_ID: list[tuple[str, str, Any, str]] = [
    ("GET", GROUPS + "/{}/resource", None, "group"),
    ("POST", GROUPS + "/{}", UPDATE, "group"),
    ("POST", GROUPS + "/{}", UPDATE | {"billinggroup_id": "sichtbar"}, "group"),
    ("POST", GROUPS + "/{}", UPDATE | {"project_id": "prj_unknown"}, "group"),
    ("POST", GROUPS + "/{}/invoices", {"vendor": "aws", "invoices": VALID_SETTING_UPDATE}, "group"),
    ("POST", GROUPS + "/{}/freeformat/aws", {"additional_items": []}, "group"),
    ("DELETE", GROUPS + "/{}/freeformat", None, "group"),
    ("DELETE", GROUPS + "/{}/freeformat/aws", None, "group"),
    ("POST", GROUPS + "/{}/invoicetemplate", {"invoice_template_id": None}, "group"),
    ("POST", GROUPS + "/{}/invoicetemplate", {"invoice_template_id": "tpl_none"}, "group"),
    ("DELETE", GROUPS + "/{}", None, "group"),
    ("PUT", f"{ACCOUNTS}/{SEEN_NUMBER}/edit", ACCOUNT | {"company_id": "{}"}, "group"),
    ("PUT", ACCOUNTS + "/{}/edit", ACCOUNT | {"company_id": "cmp_unknown"}, "account"),
    ("PUT", ACCOUNTS + "/{}/edit", ACCOUNT | {"company_id": "seen"}, "account"),
    ("DELETE", ACCOUNTS + "/aws/{}|{}", None, "account"),
    ("POST", RESELLERS, RESELLER | {"company_id": "{}", "email": "a@example.com"}, "group"),
    ("PUT", RESELLERS + "/{}/meta", {"meta": {"invoice": True}}, "reseller"),
    (
        *("PUT", RESELLERS + "/{}/password"),
        {"input_type": "Custom", "password": "another horse", "notification": False},
        "reseller",
    ),
    ("DELETE", RESELLERS + "/{}", None, "reseller"),
    ("GET", "/m/core/audit?resource=billinggroup/{}", None, "group"),
    ("GET", "/m/core/audit?resource=acct/{}", None, "account"),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "kind"),
    REQUESTS_BY_ID,
    ids=[f"{request[0]} {request[1]}" for request in REQUESTS_BY_ID],
)
def test_a_hidden_record_gets_the_same_response_as_an_unknown_one(
    scene: RestrictedScene, method: str, path: str, body: Any, kind: str
) -> None:
    hidden = {"group": scene.hidden, "account": HIDDEN_NUMBER, "reseller": scene.hidden_reseller}
    missing = {"group": "cmp_unknown", "account": "919191919191", "reseller": "usr_unknown"}
    before = scene.load_groups()

    def request(record_id: str) -> HttpResponse:
        placeholders = {"{}": record_id, "seen": scene.seen}
        sent = body and {name: placeholders.get(str(value), value) for name, value in body.items()}
        return scene.request(method, path.replace("{}", record_id), sent)

    response, unknown = request(hidden[kind]), request(missing[kind])

    assert comparable(response) == comparable(unknown)
    assert response.status_code in (200, 400, 404)
    assert response.status_code != 200 or response.json() == []
    assert hides_everything(scene, response.text)
    assert scene.load_groups() == before


def test_a_hidden_id_is_reported_as_taken_without_details(scene: RestrictedScene) -> None:
    """This cannot be hidden: two records cannot have the same id."""
    group = UPDATE | {"billinggroup_id": HIDDEN}

    response = scene.request("POST", f"{GROUPS}/{scene.seen}", group)

    assert response.status_code == 409
    assert hides_everything(scene, response.text)


SHARED_CHANGES: list[tuple[str, str, Any]] = [
    (
        "POST",
        "/m/core/invoicetemplate",
        {"name": "mine", "company": "mine", "bank_account": "mine"},
    ),
    ("PUT", "/m/core/settings", {"rounding": "down"}),
    ("POST", "/m/core/project", {"project_code": "P", "project_label": "P"}),
    ("POST", ACCOUNTS, AWS | {"company_id": "seen", "customer_id": HIDDEN_NUMBER}),
]


@pytest.mark.parametrize(("method", "path", "body"), SHARED_CHANGES)
def test_what_belongs_to_no_visible_group_cannot_be_changed(
    scene: RestrictedScene, method: str, path: str, body: Any
) -> None:
    """Nor can an account of a hidden group be brought into a visible one."""
    sent = {name: scene.seen if value == "seen" else value for name, value in body.items()}
    before = scene.load_groups()

    response = scene.request(method, path, sent)

    assert (response.status_code, response.json()["code"]) == (403, "narrowed_caller")
    assert hides_everything(scene, response.text)
    assert scene.load_groups() == before


def test_the_visible_group_can_be_changed(scene: RestrictedScene) -> None:
    """The tests above would also pass with a service that finds nothing."""
    update = UPDATE | {"billinggroup_id": "sichtbar", "remarks": "changed"}
    add_account(scene.service, scene.seen, customer_id="000000000005")

    assert scene.request("POST", f"{GROUPS}/{scene.seen}", update).status_code == 200
    path = f"{ACCOUNTS}/aws/000000000005|{AWS['account_id']}"
    assert scene.request("DELETE", path).status_code == 200
    items = {"additional_items": [FREE_FORMAT_ITEM]}
    path = f"{GROUPS}/{scene.seen}/freeformat/aws"
    assert scene.request("POST", path, items).status_code == 200


MANY_FILTERS = """
INSERT INTO role_filters (organisation_id, user_id, namespace, type, resource)
SELECT :organisation_id, :user_id, 'core', 'billingGroup', 'cmp_' || number
FROM generate_series(1, 33000) AS number
"""


def test_a_filter_may_contain_very_many_groups(running: Service) -> None:
    """More groups than a statement can have parameters; storing them takes seconds."""
    tenant = running.new_organisation()
    root = running.root(tenant)
    seen, hidden = [create_group(running, root, billinggroup_id=group_id) for group_id in "ab"]
    subuser = create_subuser(
        running,
        [RoleAction.ModifyBillingGroup, RoleAction.ModifyAccount, RoleAction.ReadAudit],
        filters=[("core", "billingGroup", seen)],
        organisation=tenant,
    )

    async def add_filters() -> None:
        async with transaction(running.resources.engine, tenant.organisation_id) as db:
            user = {"organisation_id": tenant.organisation_id, "user_id": subuser.user_id}
            await db.execute(sa.text(MANY_FILTERS), user)

    running.run(add_filters)

    def request(method: str, path: str, **sent: Any) -> HttpResponse:
        return running.http.request(method, path, headers=subuser.core, **sent)

    assert [group["company_id"] for group in request("GET", GROUPS).json()] == [seen]
    account = AWS | {"company_id": seen}
    assert running.http.post(ACCOUNTS, json=account, headers=root).status_code == 200
    assert len(request("GET", f"{ACCOUNTS}?vendor=aws").json()) == 1
    edit = ACCOUNT | {"company_id": seen}
    assert request("PUT", f"{ACCOUNTS}/{AWS['customer_id']}/edit", json=edit).status_code == 200
    assert request("DELETE", f"{GROUPS}/{seen}").status_code == 409
    assert request("DELETE", f"{GROUPS}/{hidden}").status_code == 404
    assert len(request("GET", "/m/core/audit").json()) == 3
