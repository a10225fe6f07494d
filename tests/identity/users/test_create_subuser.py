"""POST /m/u/users"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of, violations_of
from tests.identity.login.asking import OWN_MAPPINGS, as_user, ask, issued
from tests.identity.users.subusers import MOMENT, SUBUSER, USERS, create, created, listed
from tests.people import all_at_once, new_person
from tests.running_service import Service

USERNAME_RULE = [("username", "4 to 18 letters, digits, _, . or -")]
PASSWORD_RULE = [("password", "length 8 to 18")]
EMAIL_RULE = [("email", "an e-mail address")]


def test_required_fields_are_enough(service: Service) -> None:
    record = created(service)

    assert record == {
        "user_id": record["user_id"],
        "username": "hanako.s",
        "email": None,
        "root_user": service.organisation.root_user_id,
        "notification": {"email": "false"},
        "create_time": record["create_time"],
    }
    assert record["user_id"].startswith("usr_")
    assert MOMENT.fullmatch(record["create_time"])
    age = datetime.now(UTC) - datetime.fromisoformat(record["create_time"])
    assert abs(age.total_seconds()) < 60


def test_the_answer_is_the_record_of_the_list(service: Service) -> None:
    record = created(service, email="hanako@example.com", notification={"email": "true"})

    assert listed(service) == [record]
    assert record["email"] == "hanako@example.com"
    assert record["notification"] == {"email": "true"}


@pytest.mark.parametrize(
    "username",
    [
        "abcd",
        "a" * 18,
        "ABCD",
        "0123",
        "a_.-",
        "-abc",
        "abc-",
        ".abc",
        "_...",
        "Z-9_z.0123456789ab",
    ],
)
def test_a_username_has_4_to_18_letters_digits_and_three_signs(
    service: Service, username: str
) -> None:
    assert created(service, username=username)["username"] == username


NO_USERNAMES = (
    *("abc", "a" * 19, "", "    "),
    *("abcd\n", "abcd\r", "ab cd", " abcd", "abcd ", "ab\tcd", "ab\u00a0cd", "ab\u3000cd"),
    *("ab@cd", "ab/cd", "ab\\cd", "ab%cd", "ab+cd", "ab:cd", "ab'cd", 'ab"cd', "ab<cd", "a*cd"),
    *("ａｂｃｄ", "ab１２", "ab．cd", "ab＿cd", "ab－cd"),  # full width
    *("аbcd", "αbcd", "\u212aelvin", "ıbcd", "ſbcd", "ñbcd", "はなこ", "花子さん"),
    *("ab‐cd", "ab–cd", "ab−cd", "ab·cd", "ab…cd"),  # signs that look like ours
    *("abcd\u0301", "ab\u200bcd", "ab\u00adcd", "ab\u202ecd", "abc😀", "٠١٢٣", "abc²", "Ⅳabc"),
)


def test_any_other_username_is_refused(service: Service) -> None:
    for username in NO_USERNAMES:
        answer = create(service, username=username)

        assert violations_of(answer) == USERNAME_RULE, username


def test_a_username_is_a_text(service: Service) -> None:
    for username in (1234, 12.5, True, [], ["abcd"], {"abcd": 1}):
        assert violations_of(create(service, username=username)) == [("username", "a text")]


def test_words_of_our_paths_are_no_names(service: Service) -> None:
    for username in ("role", "Roles", "TEMPLATES", "userRoles", "permissions", "....", "." * 18):
        answer = create(service, username=username)

        assert violations_of(answer) == [("username", "not a reserved word")]


@pytest.mark.parametrize(
    "password",
    [
        "12345678",
        "a" * 18,
        " " * 8,
        "  spaces  ",
        "😀" * 8,
        "😀" * 18,
        "e\u0301" * 4,  # eight code points, four characters to a reader
        "e\u0301" * 9,
        "パスワードです！",
        "tab\tand\nline",
    ],
)
def test_a_password_has_8_to_18_code_points_and_opens_as_it_was_sent(
    service: Service, password: str
) -> None:
    created(service, password=password)

    assert issued(service, as_user(service.organisation, "hanako.s", password))
    assert ask(service, as_user(service.organisation, "hanako.s", password[:-1])).is_client_error


NO_PASSWORDS = (
    "",
    "1234567",
    "a" * 19,
    "a" * 10_000,
    "😀" * 7,  # 28 bytes
    "😀" * 19,
    "e\u0301" * 3 + "e",  # seven code points
    "e\u0301" * 9 + "e",
    " 123456",
)


def test_a_shorter_or_longer_password_is_refused(service: Service) -> None:
    for password in NO_PASSWORDS:
        answer = create(service, password=password)

        assert violations_of(answer) == PASSWORD_RULE, password


def test_a_password_is_a_text(service: Service) -> None:
    for password in (12345678, True, ["12345678"], {"a": "12345678"}):
        assert violations_of(create(service, password=password)) == [("password", "a text")]


@pytest.mark.parametrize("email", [None, ...])
def test_an_email_may_be_left_out(service: Service, email: Any) -> None:
    assert created(service, email=email)["email"] is None
    assert created(service, username="second", email=email)["email"] is None


@pytest.mark.parametrize(
    "email",
    [
        "a@b",
        "hanako@example.com",
        "Hanako.S+billing_1@Mail.Example.co.jp",
        "o'hara!#$%&*/?=^`{|}~@x-y.example",
        "花子@例え.テスト",
        "a@1.2.3.4",
        f"{'a' * 242}@example.com",
    ],
)
def test_an_email_comes_back_as_it_was_sent(service: Service, email: str) -> None:
    assert created(service, email=email)["email"] == email


NO_EMAILS = (
    *("", "hanako", "@", "@example.com", "hanako@", "a@b@c", "a@@b"),
    *("a b@example.com", " a@b", "a@b ", "a@b\n", "a@b\r\nBcc: c@d", "a\t@b", "a@b c"),
    *("a@.b", "a@b..c", "a@b.", "a@-b", "a@_b", "a@b/c", "a@b:25", "a@[1.2.3.4]"),
    *("<a@b>", "a@b>", "a@b,c", "a,b@c", "a;b@c", '"a b"@c', "a(b)@c", "a@b<script>", "=?x?=@b"),
    *("a@b\x01", "a\x7f@b", "a\u200b@b", "a@b\u202e", "a\u00a0@b"),
    f"{'a' * 243}@example.com",
)


def test_what_is_no_email_address_is_refused(service: Service) -> None:
    for email in NO_EMAILS:
        assert violations_of(create(service, email=email)) == EMAIL_RULE, email


def test_an_email_is_a_text(service: Service) -> None:
    for email in (1, False, ["a@b"], {"a": "b"}):
        assert violations_of(create(service, email=email)) == [("email", "a text")]


@pytest.mark.parametrize("spelled", ["true", "false"])
def test_notification_is_a_word(service: Service, spelled: str) -> None:
    assert created(service, notification={"email": spelled})["notification"] == {"email": spelled}


def test_any_other_notification_is_refused(service: Service) -> None:
    for spelled in (True, False, "True", "FALSE", "yes", "", 1, 0, [], ["true"]):
        answer = create(service, notification={"email": spelled})

        assert violations_of(answer) == [("notification.email", "one of true, false")]


def test_notification_is_an_object(service: Service) -> None:
    no_objects: tuple[Any, ...] = ("true", True, [], 1)
    for notification in no_objects:
        answer = create(service, notification=notification)

        assert violations_of(answer) == [("notification", "an object")]


@pytest.mark.parametrize("field", ["username", "password", "notification"])
@pytest.mark.parametrize("value", [None, ...])
def test_required_fields_are_required(service: Service, field: str, value: Any) -> None:
    assert violations_of(create(service, **{field: value})) == [(field, "required")]


def test_notification_says_whether_by_email(service: Service) -> None:
    unsaid: list[dict[str, Any]] = [{}, {"email": None}, {"mail": "true"}]
    for notification in unsaid:
        answer = create(service, notification=notification)

        assert violations_of(answer) == [("notification.email", "required")]


def test_every_broken_rule_is_named_at_once(service: Service) -> None:
    answer = create(
        service, username="abc", password="1234567", email="no", notification={"email": True}
    )

    assert sorted(violations_of(answer)) == sorted(
        [*USERNAME_RULE, *PASSWORD_RULE, *EMAIL_RULE, ("notification.email", "one of true, false")]
    )
    assert listed(service) == []


def test_fields_nobody_asked_for_change_nothing(service: Service) -> None:
    record = created(
        service, user_id="usr_mine", root_user="usr_mine", kind="root", credential_epoch=7
    )

    assert record["user_id"] != "usr_mine"
    assert record["root_user"] == service.organisation.root_user_id
    assert listed(service) == [record]


@pytest.mark.parametrize("username", ["hanako.s", "HANAKO.S", "Hanako.s"])
def test_a_name_in_use_is_refused_without_regard_to_case(service: Service, username: str) -> None:
    created(service)

    answer = create(service, username=username)

    assert problem_of(answer, 409)["code"] == "username_taken"
    assert len(listed(service)) == 1


@pytest.mark.parametrize("username", ["root", "ROOT"])
def test_the_root_users_name_is_in_use(service: Service, username: str) -> None:
    assert problem_of(create(service, username=username), 409)["code"] == "username_taken"


@pytest.mark.parametrize("email", ["hanako@example.com", "Hanako@EXAMPLE.com"])
def test_an_email_in_use_is_refused_without_regard_to_case(service: Service, email: str) -> None:
    created(service, email="hanako@example.com")

    answer = create(service, username="another", email=email)

    assert problem_of(answer, 409)["code"] == "email_taken"
    assert len(listed(service)) == 1


def test_another_organisation_may_use_the_same_name_and_email(service: Service) -> None:
    created(service, email="hanako@example.com")
    other = service.new_organisation()

    answer = create(service, service.root(other), email="hanako@example.com")

    assert answer.status_code == 200
    assert answer.json()["root_user"] == other.root_user_id


def test_of_many_at_once_one_gets_the_name(service: Service) -> None:
    spellings = ["hanako.s", "HANAKO.S", "Hanako.S", "hanako.S"] * 2

    answers = all_at_once([partial(create, service, username=name) for name in spellings])

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    for answer in answers:
        if answer.status_code == 409:
            assert problem_of(answer, 409)["code"] == "username_taken"
    assert len(listed(service)) == 1


def test_of_many_at_once_one_gets_the_email(service: Service) -> None:
    names = [f"person{number}" for number in range(6)]

    answers = all_at_once(
        [partial(create, service, username=name, email="a@b.c") for name in names]
    )

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
    codes = {answer.json().get("code") for answer in answers if answer.status_code == 409}
    assert codes == {"email_taken"}


def test_a_refused_subuser_leaves_its_name_free(service: Service) -> None:
    create(service, password="short")

    assert created(service)["username"] == "hanako.s"


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_a_new_subuser_may_do_nothing_yet(service: Service, product: Product) -> None:
    created(service)
    token = issued(service, as_user(service.organisation, "hanako.s", SUBUSER["password"]), product)
    headers = {"Authorization": f"Bearer {token['access_token']}"}

    assert service.http.get(OWN_MAPPINGS, headers=headers).json() == []
    assert service.http.get(USERS, headers=headers).status_code == 403
    assert create(service, headers, username="another").status_code == 403


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_a_subuser_who_may_creates_others_for_the_root_user(
    service: Service, product: Product
) -> None:
    maker = new_person(service, core=["ModifyUsers"], portal=["ModifyUsers"])

    answer = create(service, maker.headers(product))

    assert answer.status_code == 200
    assert answer.json()["root_user"] == service.organisation.root_user_id
