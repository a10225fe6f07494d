"""PUT /m/u/users/{user_id}/password"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of, violations_of
from tests.identity.login.asking import BOTH, OWN_MAPPINGS, as_user, ask, issued, refreshing
from tests.identity.users.subusers import SUBUSER, USERS, create, created
from tests.identity.users.who_holds_more import HOLDS_MORE, HOLDS_NO_MORE
from tests.people import new_person
from tests.running_service import PASSWORD, Service

OLD, NEW = SUBUSER["password"], "a better one, 9"
OLD_PASSWORD_RULE = [("old_password", "the present password")]


def change(
    service: Service, user_id: str, headers: dict[str, str] | None = None, **body: Any
) -> httpx.Response:
    sent = {"password": NEW, **body}
    return service.http.put(
        f"{USERS}/{user_id}/password", json=sent, headers=headers or service.root()
    )


def headers_of(token: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {token['access_token']}"}


def opens(service: Service, username: str, password: str) -> bool:
    """Whether one can log in so."""
    return ask(service, as_user(service.organisation, username, password)).is_success


@pytest.fixture
def user_id(service: Service) -> str:
    return str(created(service)["user_id"])


@pytest.fixture
def oneself(service: Service, user_id: str) -> dict[str, str]:
    """A token of the user's own; it holds no role."""
    return headers_of(issued(service, as_user(service.organisation, "hanako.s", OLD)))


def test_one_changes_ones_own_with_the_old_one(
    service: Service, user_id: str, oneself: dict[str, str]
) -> None:
    answer = change(service, user_id, oneself, old_password=OLD)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert opens(service, "hanako.s", NEW)
    assert not opens(service, "hanako.s", OLD)


@pytest.mark.parametrize("old", [{}, {"old_password": None}])
def test_ones_own_is_not_changed_without_the_old_one(
    service: Service, user_id: str, oneself: dict[str, str], old: dict[str, Any]
) -> None:
    assert violations_of(change(service, user_id, oneself, **old)) == OLD_PASSWORD_RULE
    assert opens(service, "hanako.s", OLD)
    assert service.http.get(OWN_MAPPINGS, headers=oneself).status_code == 200


@pytest.mark.parametrize("old", ["", NEW, OLD + " ", OLD[:-1], OLD.upper(), "x" * 10_000, "😀"])
def test_ones_own_is_not_changed_with_a_wrong_old_one(
    service: Service, user_id: str, oneself: dict[str, str], old: str
) -> None:
    answer = change(service, user_id, oneself, old_password=old)

    assert violations_of(answer) == OLD_PASSWORD_RULE
    assert opens(service, "hanako.s", OLD)


def test_the_old_one_cannot_be_guessed_with_a_token_that_was_found(
    service: Service, user_id: str, oneself: dict[str, str]
) -> None:
    """Ten tries in fifteen minutes, then not even the right one is looked at."""
    other = created(service, username="another")["user_id"]
    others = headers_of(issued(service, as_user(service.organisation, "another", OLD)))
    guesses = [change(service, user_id, oneself, old_password=f"guess {n}") for n in range(12)]
    right = change(service, user_id, oneself, old_password=OLD)

    assert [guess.status_code for guess in guesses] == [400] * 10 + [429] * 2
    assert problem_of(right, 429)["code"] == "login_throttled"
    assert 0 < int(right.headers["Retry-After"]) <= 901
    assert opens(service, "hanako.s", OLD)
    assert change(service, other, others, old_password=OLD).status_code == 200
    assert change(service, user_id).status_code == 200


def test_a_right_one_forgives_the_wrong_ones(
    service: Service, user_id: str, oneself: dict[str, str]
) -> None:
    for _ in range(9):
        assert change(service, user_id, oneself, old_password="wrong").status_code == 400
    assert change(service, user_id, oneself, old_password=OLD).status_code == 200
    fresh = headers_of(issued(service, as_user(service.organisation, "hanako.s", NEW)))

    answers = [change(service, user_id, fresh, old_password="wrong") for _ in range(10)]

    assert {answer.status_code for answer in answers} == {400}


def test_the_root_user_too_needs_its_old_one(service: Service) -> None:
    root_id = service.organisation.root_user_id

    assert violations_of(change(service, root_id)) == OLD_PASSWORD_RULE
    assert change(service, root_id, old_password=PASSWORD).status_code == 200
    assert opens(service, "root", NEW)
    assert not opens(service, "root", PASSWORD)


@pytest.mark.parametrize(
    "password", ["", "1234567", "a" * 19, "😀" * 7, "e\u0301" * 10, "a" * 10_000]
)
def test_the_new_one_has_8_to_18_code_points(
    service: Service, user_id: str, oneself: dict[str, str], password: str
) -> None:
    answer = change(service, user_id, oneself, password=password, old_password=OLD)

    assert violations_of(answer) == [("password", "length 8 to 18")]
    assert opens(service, "hanako.s", OLD)


@pytest.mark.parametrize("password", ["12345678", "a" * 18, "😀" * 18, "e\u0301" * 4])
def test_the_new_one_opens_at_both_edges(service: Service, user_id: str, password: str) -> None:
    assert change(service, user_id, password=password).status_code == 200
    assert opens(service, "hanako.s", password)


def test_a_body_without_a_password_is_refused(service: Service, user_id: str) -> None:
    for password in (None, 12345678, ["12345678"]):
        rule = "required" if password is None else "a text"
        assert violations_of(change(service, user_id, password=password)) == [("password", rule)]
    wrong = change(service, user_id, old_password=["a"])
    assert violations_of(wrong) == [("old_password", "a text")]


@pytest.mark.parametrize("product", BOTH)
def test_who_may_modify_users_changes_it_without_the_old_one(
    service: Service, user_id: str, product: Product
) -> None:
    caller = new_person(service, core=["ModifyUsers"], portal=["ModifyUsers"])

    assert change(service, user_id, caller.headers(product)).status_code == 200
    assert opens(service, "hanako.s", NEW)


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyRoles", "ModifyApiClients"]])
def test_nobody_else_changes_it_even_with_the_old_one(
    service: Service, user_id: str, actions: list[str]
) -> None:
    caller = new_person(service, core=actions)

    for someone in (user_id, service.organisation.root_user_id, new_id("usr"), "hanako.s"):
        answer = change(service, someone, caller.core, old_password=OLD)
        assert problem_of(answer, 403)["code"] == "role_action_missing"
    assert opens(service, "hanako.s", OLD)


@pytest.mark.parametrize("more", HOLDS_MORE)
def test_who_may_do_more_keeps_his_password(service: Service, more: str) -> None:
    mine, theirs = HOLDS_MORE[more]
    caller, other = new_person(service, **mine), new_person(service, **theirs)

    answer = change(service, other.user_id, caller.core)

    assert problem_of(answer, 403)["code"] == "holds_more"
    assert not opens(service, other.username, NEW)
    assert service.http.get(OWN_MAPPINGS, headers=other.core).status_code == 200


@pytest.mark.parametrize("no_more", HOLDS_NO_MORE)
def test_who_may_do_no_more_gets_a_new_one(service: Service, no_more: str) -> None:
    mine, theirs = HOLDS_NO_MORE[no_more]
    caller, other = new_person(service, **mine), new_person(service, **theirs)

    assert change(service, other.user_id, caller.core).status_code == 200
    assert opens(service, other.username, NEW)


def test_not_even_an_admin_changes_the_root_users(service: Service) -> None:
    admin = new_person(service, core=["Admin"], portal=["Admin"])
    root_id = service.organisation.root_user_id

    for old in ({}, {"old_password": PASSWORD}):
        answer = change(service, root_id, admin.core, **old)
        assert problem_of(answer, 403)["code"] == "holds_more"
    assert opens(service, "root", PASSWORD)


@pytest.mark.parametrize("by", ["oneself", "root"])
def test_every_token_of_the_user_dies_on_its_next_use(
    service: Service, user_id: str, oneself: dict[str, str], by: str
) -> None:
    client = service.http.post(
        f"{USERS}/client/{user_id}", json={"name": "own"}, headers=service.root()
    ).json()
    by_client = {
        "grant_type": "client_credentials",
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
    }
    by_password = as_user(service.organisation, "hanako.s", OLD)
    tokens = [issued(service, form, one) for form in (by_password, by_client) for one in BOTH]
    known = [headers_of(token) for token in tokens] + [oneself]
    assert {service.http.get(OWN_MAPPINGS, headers=one).status_code for one in known} == {200}

    if by == "oneself":
        answer = change(service, user_id, oneself, old_password=OLD)
    else:
        answer = change(service, user_id)

    assert answer.status_code == 200
    assert {service.http.get(OWN_MAPPINGS, headers=one).status_code for one in known} == {401}
    for token, product in zip(tokens[:2], BOTH, strict=True):
        form = refreshing(service.organisation, token["refresh_token"])
        assert ask(service, form, product).json()["error"] == "invalid_grant"
    for token, product in zip(tokens[2:], BOTH, strict=True):
        form = by_client | {
            "grant_type": "refresh_token",
            "refresh_token": token["refresh_token"],
        }
        assert ask(service, form, product).json()["error"] == "invalid_grant"
    fresh = headers_of(issued(service, by_client))
    assert service.http.get(OWN_MAPPINGS, headers=fresh).status_code == 200


def test_other_users_keep_their_tokens(service: Service, user_id: str) -> None:
    other = new_person(service)

    change(service, user_id)

    assert service.http.get(OWN_MAPPINGS, headers=other.core).status_code == 200
    assert service.http.get(OWN_MAPPINGS, headers=service.root()).status_code == 200


def test_it_is_named_by_its_id_alone(
    service: Service, user_id: str, oneself: dict[str, str]
) -> None:
    other = service.new_organisation()
    theirs = create(service, service.root(other)).json()["user_id"]

    for someone in ("hanako.s", new_id("usr"), theirs, other.root_user_id):
        assert problem_of(change(service, someone), 404)["code"] == "not_found"
    assert problem_of(change(service, "hanako.s", oneself, old_password=OLD), 404)
    assert opens(service, "hanako.s", OLD)
