"""Which group name is similar to the name of an account."""

from __future__ import annotations

import pytest

from nimbill.imports.suggestion_rules import NameIndex, split_words

INDEX = NameIndex(
    {
        "sakura": "さくら商事 株式会社さくら商事 BG-1",
        "aozora": "Aozora Trading Aozora Trading Inc. BG-2",
        "minato": "港運輸 港運輸株式会社 BG-3",
        "midori": "Midori Foods Midori Foods BG-4",
        "midori-2": "Midori Logistics Midori Logistics BG-5",
    }
)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("aozora-trading-prod", "aozora"),
        ("AWS Account Ａｏｚｏｒａ (dev)", "aozora"),
        ("さくら商事 開発", "sakura"),
        ("株式会社さくら商事", "sakura"),
        ("港運輸-staging", "minato"),
        ("midori logistics", "midori-2"),
    ],
)
def test_the_group_with_the_most_common_words_is_found(name: str, key: str) -> None:
    similar = INDEX.find_most_similar(name)

    assert similar is not None
    assert similar.key == key


@pytest.mark.parametrize("name", ["prod", "unknown customer", "midori", "", "123456789012"])
def test_nothing_is_suggested_without_a_clear_winner(name: str) -> None:
    assert INDEX.find_most_similar(name) is None


def test_common_words_and_the_form_of_a_company_do_not_count() -> None:
    assert split_words("AWS prod 株式会社") == frozenset()
    assert split_words("港運輸") == {"港運", "運輸"}
