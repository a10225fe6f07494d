"""The words of a letter: in the reader's language, and a password only where we made it."""

from __future__ import annotations

import pytest

from nimbill.foundation.vocabulary import Language
from nimbill.mail.messages import account_created, password_changed

FACTS = {
    "to": "hanako@example.com",
    "company": "株式会社さくら商事",
    "address": "https://billing.example.com/portal",
}
kinds = pytest.mark.parametrize("write", [account_created, password_changed])
languages = pytest.mark.parametrize("language", Language)


@kinds
@languages
def test_a_letter_says_where_to_log_in_and_as_whom(write: object, language: Language) -> None:
    assert callable(write)
    letter = write(**FACTS, language=language, password=None)

    assert letter.to == FACTS["to"]
    for fact in FACTS.values():
        assert fact in letter.text
    assert letter.text.endswith("\n")
    assert "{" not in letter.text + letter.subject


@kinds
@languages
def test_a_password_stands_in_it_only_when_there_is_one_to_tell(
    write: object, language: Language
) -> None:
    assert callable(write)
    word = {Language.ja: "パスワード: ", Language.en: "Password: "}[language]

    told = write(**FACTS, language=language, password="k3-{}%s_Q")
    silent = write(**FACTS, language=language, password=None)

    assert f"{word}k3-{{}}%s_Q\n" in told.text
    assert word not in silent.text
    assert "k3-" not in told.subject


def test_the_languages_are_told_apart() -> None:
    ja, en = (account_created(**FACTS, language=one, password=None) for one in Language)

    assert (ja.subject, en.subject) == ("ポータルのアカウントを作成しました", "Your portal account")
    assert "株式会社さくら商事 様" in ja.text
    assert "Dear 株式会社さくら商事," in en.text


def test_the_two_kinds_are_told_apart() -> None:
    for language in Language:
        made = account_created(**FACTS, language=language, password=None)
        changed = password_changed(**FACTS, language=language, password=None)
        assert made.subject != changed.subject
        assert made.text != changed.text


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
def test_a_name_of_several_lines_writes_no_line_of_its_own(
    company: str, language: Language
) -> None:
    facts = FACTS | {"company": company}

    letter = account_created(**facts, language=language, password="real-one")

    assert "A Password: fake" in letter.text
    honest = account_created(**FACTS, language=language, password="real-one")
    assert len(letter.text.splitlines()) == len(honest.text.splitlines())


def test_braces_in_a_name_are_no_placeholders() -> None:
    facts = FACTS | {"company": "{password} {0} {to.__class__}"}

    letter = account_created(**facts, language=Language.en, password="real-one")

    assert "Dear {password} {0} {to.__class__}," in letter.text
    assert letter.text.count("real-one") == 1
