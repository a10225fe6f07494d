"""A caller narrowed to one billing group: nothing of another is shown, changed or told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import transaction
from tests.answers import Answer
from tests.customers.billing_groups.billing_groups import PATH as GROUPS
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.customers.billing_groups.test_free_format import ITEM
from tests.customers.billing_groups.test_update_invoice_setting import SETTING
from tests.customers.cloud_accounts.accounts import AWS, add_account
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.people import new_person
from tests.running_service import Service

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
class Scene:
    """One organisation, a group that is seen, one that is hidden, and who sees only the first."""

    service: Service
    root: dict[str, str]
    narrowed: dict[str, str]
    seen: str
    hidden: str
    hidden_reseller: str

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        sent = {} if body is None else {"json": body}
        return self.service.http.request(method, path, headers=self.narrowed, **sent)

    def whole(self) -> list[Any]:
        """All there is of both groups, as the root user sees it."""
        paths = (GROUPS, f"{ACCOUNTS}?vendor=aws", RESELLERS)
        return [self.service.http.get(path, headers=self.root).json() for path in paths]


def furnish(service: Service, name: str, number: str) -> tuple[str, str]:
    """A group with something of everything that can hang on it; its id and its reseller's."""
    texts = ("billinggroup_name", "company_name", "phone", "postal", "address", "personal")
    company_id = create_group(
        service,
        service.root(),
        billinggroup_id=name,
        invoices={"aws": VALID_SETTING},
        **dict.fromkeys((*texts, "billing_title", "remarks"), name),
    )
    items = {"additional_items": [ITEM | {"label": name}]}
    service.http.post(f"{GROUPS}/{company_id}/freeformat/aws", json=items, headers=service.root())
    numbers = {"customer_id": number, "account_id": number}
    add_account(service, company_id, **numbers, name=name, note=name)
    reseller = RESELLER | {"company_id": company_id, "email": f"{name}@example.com"}
    answer = service.http.post(RESELLERS, json=reseller, headers=service.root())
    assert answer.status_code == 200, answer.text
    return company_id, answer.json()["user_id"]


@pytest.fixture(scope="module")
def scene(running: Service) -> Scene:
    running.organisation = running.new_organisation()
    seen, _ = furnish(running, "sichtbar", SEEN_NUMBER)
    hidden, reseller = furnish(running, HIDDEN, HIDDEN_NUMBER)
    narrowed = running.caller(*CORE, billing_groups=[seen])
    return Scene(running, running.root(), narrowed, seen, hidden, reseller)


def shows_nothing_hidden(scene: Scene, text: str) -> bool:
    secrets = (HIDDEN, HIDDEN_NUMBER, scene.hidden, scene.hidden_reseller)
    return not any(secret in text for secret in secrets)


def told(answer: Answer) -> tuple[int, str]:
    """What an answer tells, but for its own number."""
    return answer.status_code, answer.text.replace(answer.headers["x-request-id"], "")


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
def test_lists_show_the_one_group_alone(scene: Scene, method: str, path: str) -> None:
    answer = scene.ask(method, path)

    assert answer.status_code == 200
    assert scene.seen in answer.text
    assert shows_nothing_hidden(scene, answer.text)
    whole = scene.service.http.request(method, path, headers=scene.root)
    assert not shows_nothing_hidden(scene, whole.text)


@pytest.mark.parametrize("path", ["/m/core/project", "/m/core/invoicetemplate", "/m/core/settings"])
def test_what_is_the_organisations_tells_nothing_of_the_group(scene: Scene, path: str) -> None:
    answer = scene.ask("GET", path)

    assert answer.status_code == 200
    assert shows_nothing_hidden(scene, answer.text)


@pytest.mark.parametrize("kind", ["billing-group", "billing-group-setting"])
@pytest.mark.parametrize("redo", [False, True])
def test_exports_hold_the_one_group_alone(scene: Scene, kind: str, *, redo: bool) -> None:
    """Also where a file for everybody was made just before."""
    path, body = f"/m/core/exportcsv/{kind}", {"redo": redo}
    scene.service.http.post(path, json={"redo": False}, headers=scene.root)

    link = urlsplit(scene.ask("POST", path, body).json()["path"])
    file = scene.service.http.get(f"{link.path}?{link.query}")

    assert file.status_code == 200
    assert "sichtbar" in file.text
    assert shows_nothing_hidden(scene, file.text)


UPDATE = {"billinggroup_id": "x", "billinggroup_name": "x", "company_name": "x"}
ACCOUNT = {name: AWS[name] for name in ("vendor", "account_id", "name")}

# method and path with the place of the id, body, and which id stands there
SINGLE: list[tuple[str, str, Any, str]] = [
    ("GET", GROUPS + "/{}/resource", None, "group"),
    ("POST", GROUPS + "/{}", UPDATE, "group"),
    ("POST", GROUPS + "/{}", UPDATE | {"billinggroup_id": "sichtbar"}, "group"),
    ("POST", GROUPS + "/{}", UPDATE | {"project_id": "prj_never_was"}, "group"),
    ("POST", GROUPS + "/{}/invoices", {"vendor": "aws", "invoices": SETTING}, "group"),
    ("POST", GROUPS + "/{}/freeformat/aws", {"additional_items": []}, "group"),
    ("DELETE", GROUPS + "/{}/freeformat", None, "group"),
    ("DELETE", GROUPS + "/{}/freeformat/aws", None, "group"),
    ("POST", GROUPS + "/{}/invoicetemplate", {"invoice_template_id": None}, "group"),
    ("POST", GROUPS + "/{}/invoicetemplate", {"invoice_template_id": "tpl_none"}, "group"),
    ("DELETE", GROUPS + "/{}", None, "group"),
    ("POST", ACCOUNTS, AWS | {"company_id": "{}", "customer_id": "000000000009"}, "group"),
    ("POST", ACCOUNTS, AWS | {"company_id": "{}", "customer_id": SEEN_NUMBER}, "group"),
    ("PUT", f"{ACCOUNTS}/{SEEN_NUMBER}/edit", ACCOUNT | {"company_id": "{}"}, "group"),
    ("PUT", ACCOUNTS + "/{}/edit", ACCOUNT | {"company_id": "cmp_never_was"}, "account"),
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
    ("method", "path", "body", "kind"), SINGLE, ids=[f"{one[0]} {one[1]}" for one in SINGLE]
)
def test_what_is_hidden_answers_as_what_never_was(
    scene: Scene, method: str, path: str, body: Any, kind: str
) -> None:
    hidden = {"group": scene.hidden, "account": HIDDEN_NUMBER, "reseller": scene.hidden_reseller}
    never = {"group": "cmp_never_was", "account": "919191919191", "reseller": "usr_never_was"}
    before = scene.whole()

    def ask(one: str) -> Answer:
        places = {"{}": one, "seen": scene.seen}
        sent = body and {name: places.get(str(value), value) for name, value in body.items()}
        return scene.ask(method, path.replace("{}", one), sent)

    answer, unknown = ask(hidden[kind]), ask(never[kind])

    assert told(answer) == told(unknown)
    assert answer.status_code in (200, 400, 404)
    assert answer.status_code != 200 or answer.json() == []
    assert shows_nothing_hidden(scene, answer.text)
    assert scene.whole() == before


def test_an_id_that_is_hidden_is_taken_and_nothing_else_is_told(scene: Scene) -> None:
    """The one thing that must be told: two records cannot have one id."""
    group = UPDATE | {"billinggroup_id": HIDDEN}
    account = AWS | {"company_id": scene.seen, "customer_id": HIDDEN_NUMBER}

    for path, body in ((f"{GROUPS}/{scene.seen}", group), (ACCOUNTS, account)):
        answer = scene.ask("POST", path, body)
        assert answer.status_code == 409
        assert shows_nothing_hidden(scene, answer.text)


def test_what_is_seen_can_be_changed(scene: Scene) -> None:
    """The tests above would be kept by a service that finds nothing."""
    update = UPDATE | {"billinggroup_id": "sichtbar", "remarks": "changed"}
    numbers = {"customer_id": "000000000005", "company_id": scene.seen}

    assert scene.ask("POST", f"{GROUPS}/{scene.seen}", update).status_code == 200
    assert scene.ask("POST", ACCOUNTS, AWS | numbers).status_code == 200
    path = f"{ACCOUNTS}/aws/000000000005|{AWS['account_id']}"
    assert scene.ask("DELETE", path).status_code == 200
    items = {"additional_items": [ITEM]}
    path = f"{GROUPS}/{scene.seen}/freeformat/aws"
    assert scene.ask("POST", path, items).status_code == 200


MANY_FILTERS = """
INSERT INTO role_filters (organisation_id, user_id, namespace, type, resource)
SELECT :organisation_id, :user_id, 'core', 'billingGroup', 'cmp_' || number
FROM generate_series(1, 33000) AS number
"""


def test_a_filter_of_very_many_groups_is_no_hindrance(running: Service) -> None:
    """More than a statement has parameters."""
    who = running.new_organisation()
    root = running.root(who)
    seen, hidden = [create_group(running, root, billinggroup_id=one) for one in "ab"]
    person = new_person(
        running,
        [RoleAction.ModifyBillingGroup, RoleAction.ModifyAccount, RoleAction.ReadAudit],
        filters=[("core", "billingGroup", seen)],
        organisation=who,
    )

    async def add_filters() -> None:
        async with transaction(running.resources.engine, who.organisation_id) as db:
            whose = {"organisation_id": who.organisation_id, "user_id": person.user_id}
            await db.execute(sa.text(MANY_FILTERS), whose)

    running.run(add_filters)

    def ask(method: str, path: str, **sent: Any) -> Answer:
        return running.http.request(method, path, headers=person.core, **sent)

    assert [one["company_id"] for one in ask("GET", GROUPS).json()] == [seen]
    assert ask("POST", ACCOUNTS, json=AWS | {"company_id": seen}).status_code == 200
    assert len(ask("GET", f"{ACCOUNTS}?vendor=aws").json()) == 1
    edit = ACCOUNT | {"company_id": seen}
    assert ask("PUT", f"{ACCOUNTS}/{AWS['customer_id']}/edit", json=edit).status_code == 200
    assert ask("DELETE", f"{GROUPS}/{seen}").status_code == 409
    assert ask("DELETE", f"{GROUPS}/{hidden}").status_code == 404
    assert len(ask("GET", "/m/core/audit").json()) == 3
