"""Message texts: the language of the reader, and a password only if one is passed."""

from __future__ import annotations

from functools import partial

import pytest

from nimbill.foundation.language import Language
from nimbill.mail import messages
from nimbill.mail.messages import password_changed, password_forgotten, user_invited

FIELDS = {
    "to": "hanako@example.com",
    "company": "株式会社さくら商事",
    "address": "https://billing.example.com/portal",
}
LINK = "https://billing.example.com/portal/choose-password#organisation=org_a&token=b-_"
account_created = partial(messages.account_created, link=LINK)
builders = pytest.mark.parametrize("build", [account_created, password_changed])
languages = pytest.mark.parametrize("language", Language)


@builders
@languages
def test_a_message_names_the_login_address_and_the_user(build: object, language: Language) -> None:
    assert callable(build)
    message = build(**FIELDS, language=language, password=None)

    assert message.to == FIELDS["to"]
    for value in FIELDS.values():
        assert value in message.text
    assert message.text.endswith("\n")
    assert "{" not in message.text + message.subject


@builders
@languages
def test_a_message_contains_the_password_only_if_one_is_passed(
    build: object, language: Language
) -> None:
    assert callable(build)
    label = {Language.ja: "パスワード: ", Language.en: "Password: "}[language]

    with_password = build(**FIELDS, language=language, password="k3-{}%s_Q")
    without_password = build(**FIELDS, language=language, password=None)

    assert f"{label}k3-{{}}%s_Q\n" in with_password.text
    assert label not in without_password.text
    assert "k3-" not in with_password.subject


def test_each_language_has_its_own_text() -> None:
    ja, en = (account_created(**FIELDS, language=language, password=None) for language in Language)

    assert (ja.subject, en.subject) == ("ポータルのアカウントを作成しました", "Your portal account")
    assert "株式会社さくら商事 様" in ja.text
    assert "Dear 株式会社さくら商事," in en.text


def test_the_two_messages_have_different_texts() -> None:
    for language in Language:
        created = account_created(**FIELDS, language=language, password=None)
        changed = password_changed(**FIELDS, language=language, password=None)
        assert created.subject != changed.subject
        assert created.text != changed.text


@pytest.mark.parametrize(
    "company",
    [
        "A\nPassword: fake",
        "A\r\n\r\nPassword: fake",
        "A\u2028Password: fake",
        "A\x0bPassword: fake",
    ],
)
@languages
def test_a_name_with_line_breaks_adds_no_line(company: str, language: Language) -> None:
    fields = FIELDS | {"company": company}

    message = account_created(**fields, language=language, password="real-one")

    assert "A Password: fake" in message.text
    expected = account_created(**FIELDS, language=language, password="real-one")
    assert len(message.text.splitlines()) == len(expected.text.splitlines())


def test_braces_in_a_name_are_not_replaced() -> None:
    fields = FIELDS | {"company": "{password} {0} {to.__class__}"}

    message = account_created(**fields, language=Language.en, password="real-one")

    assert "Dear {password} {0} {to.__class__}," in message.text
    assert message.text.count("real-one") == 1


@languages
@pytest.mark.parametrize("build", [user_invited, password_forgotten])
def test_a_message_with_a_link_names_the_user_and_contains_the_link_on_a_line(
    build: object, language: Language
) -> None:
    assert callable(build)
    message = build(to="hanako@example.com", username="hanako.s", link=LINK, language=language)

    assert message.to == "hanako@example.com"
    assert LINK in message.text.splitlines()
    assert "hanako.s" in message.text
    assert LINK in account_created(**FIELDS, language=language, password=None).text.splitlines()
    assert LINK not in password_changed(**FIELDS, language=language, password=None).text
