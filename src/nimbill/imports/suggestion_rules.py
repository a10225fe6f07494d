"""Which billing group has a name that is similar to the name of an account.

Names are compared by their words; of scripts without spaces, by pairs of characters.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from nimbill.foundation.basis import chosen

basis = chosen("bulk-assignment")

SIMILAR_ENOUGH = 30  # per cent
_WORD = re.compile(r"[0-9a-z]+|[^\W0-9a-z_]+")
# Words that many names have; they say nothing about whose account it is.
_COMMON_WORDS = frozenset(
    {"account", "aws", "azure", "co", "corp", "dev", "development", "gcp", "inc", "kk", "ltd"}
    | {"prod", "production", "sandbox", "staging", "stg", "test", "the"}
)
_COMPANY_FORMS = ("株式会社", "有限会社", "合同会社")


class SimilarName(NamedTuple):
    key: str
    similarity: int  # per cent


def split_words(name: str) -> frozenset[str]:
    """Return the words of a name, without letter case and width and without common words."""
    text = unicodedata.normalize("NFKC", name).lower()
    for form in _COMPANY_FORMS:
        text = text.replace(form, " ")
    words: set[str] = set()
    for word in _WORD.findall(text):
        if word in _COMMON_WORDS:
            continue
        is_latin = word[0].isascii()
        words |= {word} if is_latin or len(word) < 3 else _pair_characters(word)
    return frozenset(words)


def _pair_characters(word: str) -> set[str]:
    return {"".join(pair) for pair in pairwise(word)}


class NameIndex:
    """The names of all groups by word, so that a name is compared only with related ones."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._words = {key: split_words(name) for key, name in names.items()}
        self._keys_by_word: dict[str, set[str]] = defaultdict(set)
        for key, words in self._words.items():
            for word in words:
                self._keys_by_word[word].add(key)

    def find_most_similar(self, name: str) -> SimilarName | None:
        """Return the most similar name; None if none is similar enough or two are equally so."""
        words = split_words(name)
        candidates = {key for word in words for key in self._keys_by_word.get(word, ())}
        ranked = sorted(
            (SimilarName(key, _compare(words, self._words[key])) for key in candidates),
            key=lambda similar: (-similar.similarity, similar.key),
        )
        if not ranked or ranked[0].similarity < SIMILAR_ENOUGH:
            return None
        if len(ranked) > 1 and ranked[1].similarity == ranked[0].similarity:
            return None
        return ranked[0]


def _compare(words: frozenset[str], others: frozenset[str]) -> int:
    """The share of common words in the shorter name, because accounts add a stage or region."""
    return 100 * len(words & others) // min(len(words), len(others))
