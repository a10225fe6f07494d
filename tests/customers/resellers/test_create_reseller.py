"""POST /m/core/reseller, with a body"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import (
    CUSTOM,
    EMAIL,
    RESELLERS,
    body,
    create,
    listed,
    the_one,
)
from tests.identity.users.subusers import create as create_subuser
from tests.people import all_at_once, new_person
from tests.running_service import Service

EMAIL_RULE = [("email", "an e-mail address")]


# ── the answer ───────────────────────────────────────────────────────────────────────────────────


def test_the_answer_is_status_and_user_id(service: Service, company: str) -> None:
    answer = create(service, company)

    assert answer.status_code == 200
    assert set(answer.json()) == {"status", "user_id"}
    assert answer.json()["status"] == "success"
    assert answer.json()["user_id"] == the_one(service)["user_id"]
    assert answer.json()["user_id"].startswith("usr_")


def test_a_company_may_have_several_accounts(service: Service, company: str) -> None:
    for number in range(3):
        assert create(service, company, email=f"{number}@example.com").status_code == 200

    assert [record["company_id"] for record in listed(service)] == [company] * 3


def test_unknown_fields_are_ignored(service: Service, company: str) -> None:
    answer = create(service, company, user_id="usr_mine", kind="root", portal_registered="1999")

    assert answer.status_code == 200
    assert answer.json()["user_id"] != "usr_mine"
    assert not the_one(service)["portal_registered"].startswith("1999")


def test_the_audit_row_names_the_account_and_keeps_no_password(
    service: Service, company: str
) -> None:
    user_id = create(service, company).json()["user_id"]

    rows = service.http.get("/m/core/audit", headers=service.root()).json()
    (row,) = [row for row in rows if row["resource"] == f"reseller/{user_id}"]

    assert row["sent"]["password"] == "***"
    assert CUSTOM not in repr(rows)


# ── row by row ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("field", ["email", "company_id", "input_type", "notification", "meta"])
@pytest.mark.parametrize("how", [..., None])
def test_a_required_field_is_required(service: Service, company: str, field: str, how: Any) -> None:
    assert violations_of(create(service, company, **{field: how})) == [(field, "required")]
    assert listed(service) == []


@pytest.mark.parametrize("how", [..., None])
def test_the_password_is_optional_with_auto(service: Service, company: str, how: Any) -> None:
    assert create(service, company, input_type="Auto", password=how).status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("email", 7, "a text"),
        ("email", ["a@example.com"], "a text"),
        ("company_id", 7, "a text"),
        ("company_id", True, "a text"),
        ("input_type", "auto", "one of Auto, Custom"),
        ("input_type", "AUTO", "one of Auto, Custom"),
        ("input_type", "", "one of Auto, Custom"),
        ("input_type", 1, "one of Auto, Custom"),
        ("notification", "true", "true or false"),
        ("notification", 1, "true or false"),
        ("notification", 0, "true or false"),
        ("notification", {}, "true or false"),
        ("password", 12345678, "a text"),
        ("meta", [], "an object"),
        ("meta", "{}", "an object"),
        ("meta", True, "an object"),
    ],
)
def test_a_value_of_another_type_is_refused(
    service: Service, company: str, field: str, value: Any, rule: str
) -> None:
    assert violations_of(create(service, company, **{field: value})) == [(field, rule)]


def test_an_empty_object_is_a_creation_that_lacks_everything(service: Service) -> None:
    answer = service.http.post(RESELLERS, json={}, headers=service.root())

    assert violations_of(answer) == [
        (field, "required")
        for field in ("email", "company_id", "input_type", "notification", "meta")
    ]


def test_every_broken_rule_is_named_at_once(service: Service, company: str) -> None:
    answer = create(
        service,
        company,
        email="nobody",
        input_type="Custom",
        notification="no",
        password="short",
        meta={"invoice": 1, "unheard_of": True},
    )

    assert violations_of(answer) == [
        ("notification", "true or false"),
        *EMAIL_RULE,
        ("password", "length 8 to 18"),
        ("meta", "known flags only"),
        ("meta.invoice", "true or false"),
    ]
    assert "unheard_of" not in answer.text


# ── e-mail ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "email",
    [
        "a@b",
        "hanako.sato+billing@mail.example.co.jp",
        "o'neil@example.com",
        "UPPER@EXAMPLE.COM",
        "花子@例え.jp",
        f"{'a' * 242}@example.com",
    ],
)
def test_an_address_is_kept_as_it_was_sent(service: Service, company: str, email: str) -> None:
    assert create(service, company, email=email).status_code == 200

    assert the_one(service)["email"] == email


@pytest.mark.parametrize(
    "email",
    [
        "",
        "hanako",
        "@example.com",
        "hanako@",
        "a@b@example.com",
        "a b@example.com",
        "a@exa mple.com",
        "a@example.com ",
        " a@example.com",
        "a@example.com\r\nBcc: b@example.com",
        "a@example.com\n",
        "a\t@example.com",
        "a,b@example.com",
        "Hanako <a@example.com>",
        '"a"@example.com',
        "a@example..com",
        "a@-example.com",
        "a@.com",
        "=?utf-8?q?victim=40example.net=2C?=@example.com",
        "=?utf-8?b?dmljdGltQGV4YW1wbGUubmV0LA==?=@example.com",
        "a\u2028@example.com",
        f"{'a' * 243}@example.com",
    ],
)
def test_what_is_no_address_is_refused(service: Service, company: str, email: str) -> None:
    assert violations_of(create(service, company, email=email)) == EMAIL_RULE


@pytest.mark.parametrize("again", [EMAIL, EMAIL.lower(), EMAIL.upper()])
def test_an_address_in_use_is_refused_without_regard_to_case(
    service: Service, company: str, again: str
) -> None:
    assert create(service, company).status_code == 200

    answer = create(service, company, email=again)

    assert problem_of(answer, 409)["code"] == "email_taken"
    assert len(listed(service)) == 1


def test_an_address_of_a_subuser_is_in_use_too(service: Service, company: str) -> None:
    assert create_subuser(service, email=EMAIL.upper()).status_code == 200

    assert problem_of(create(service, company), 409)["code"] == "email_taken"


def test_a_subuser_cannot_take_the_address_of_an_account(service: Service, company: str) -> None:
    assert create(service, company).status_code == 200

    answer = create_subuser(service, email=EMAIL.lower())

    assert problem_of(answer, 409)["code"] == "email_taken"


def test_the_same_address_in_another_organisation_is_free(service: Service, company: str) -> None:
    other = service.root(service.new_organisation())
    theirs = create_group(service, other, billinggroup_id="1")

    assert create(service, company).status_code == 200
    assert create(service, theirs, other).status_code == 200


def test_of_many_who_create_the_same_account_at_once_one_does(
    service: Service, company: str
) -> None:
    root = service.root()
    spelled = [EMAIL, EMAIL.lower(), EMAIL.upper(), EMAIL.title()]

    answers = all_at_once([_creation(service, company, root, email) for email in spelled * 2])

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    codes = {answer.json()["code"] for answer in answers if answer.status_code == 409}
    assert codes <= {"email_taken", "username_taken"}
    assert len(listed(service)) == 1


def _creation(
    service: Service, company: str, headers: dict[str, str], email: str
) -> Callable[[], httpx.Response]:
    return lambda: create(service, company, headers, email=email)


# ── company ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("company_id", ["cmp_never_was", "", "BG-1", "x" * 5000])
def test_an_unknown_company_is_refused(service: Service, company: str, company_id: str) -> None:
    answer = create(service, company_id)

    assert violations_of(answer) == [("company_id", "an existing billing group")]
    assert listed(service) == []


def test_a_company_of_another_organisation_is_as_unknown(service: Service) -> None:
    theirs = create_group(service, service.root(service.new_organisation()), billinggroup_id="1")

    assert violations_of(create(service, theirs)) == [("company_id", "an existing billing group")]


def test_a_hidden_company_is_as_unknown_and_a_visible_one_is_not(
    service: Service, company: str
) -> None:
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    narrowed = service.caller(RoleAction.ModifyReseller, billing_groups=[company])

    refused = create(service, hidden, narrowed)

    assert violations_of(refused) == [("company_id", "an existing billing group")]
    assert create(service, company, narrowed).status_code == 200


def test_an_address_hidden_from_the_caller_is_in_use_all_the_same(
    service: Service, company: str
) -> None:
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    create(service, hidden)
    narrowed = service.caller(RoleAction.ModifyReseller, billing_groups=[company])

    assert problem_of(create(service, company, narrowed), 409)["code"] == "email_taken"


# ── who may ──────────────────────────────────────────────────────────────────────────────────────


def test_reading_is_not_enough_to_create(service: Service, company: str) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    bodies: list[Any] = [body(company), {}, {"email": "broken"}, []]
    for sent in bodies:
        answer = service.http.post(RESELLERS, json=sent, headers=reader)
        assert problem_of(answer, 403)["code"] == "role_action_missing"
    assert listed(service) == []


def test_any_byte_of_a_body_is_a_body(service: Service) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    for content in (b" ", b"null", b"\n", b"{}", b"x"):
        for kind in ("application/json", "text/plain"):
            headers = {**reader, "Content-Type": kind}
            answer = service.http.post(RESELLERS, content=content, headers=headers)
            assert problem_of(answer, 403)["code"] == "role_action_missing"


@pytest.mark.parametrize("action", [RoleAction.ModifyReseller, RoleAction.Admin])
def test_who_may_modify_may_create(service: Service, company: str, action: RoleAction) -> None:
    assert create(service, company, service.caller(action)).status_code == 200


def test_who_may_do_neither_is_told_so(service: Service, company: str) -> None:
    stranger = new_person(service, core=["ReadBillingGroup", "ModifyBillingGroup"])

    assert problem_of(create(service, company, stranger.core), 403)
    assert problem_of(service.http.post(RESELLERS, headers=stranger.core), 403)
