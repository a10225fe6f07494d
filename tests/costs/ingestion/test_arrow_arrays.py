"""A column of one word is known as such, and only such a column."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.ingestion.arrow_arrays import is_one_word, words_of

TEXTS = st.lists(st.none() | st.text("aé", max_size=3), max_size=6)


@given(TEXTS, st.integers(0, 3))
def test_words_say_what_the_text_says(texts: list[str | None], start: int) -> None:
    array = pa.array(texts, pa.string()).slice(start)

    words = words_of(array)

    assert words.to_pylist() == array.to_pylist()
    assert words.type == pa.dictionary(pa.int32(), pa.string())
    assert len(words.dictionary) == len(set(array.to_pylist()) - {None})


@pytest.mark.parametrize(
    ("texts", "one"),
    [
        (["ab", "ab", "ab"], True),
        (["aa", "a", "aaa"], False),  # the same bytes, cut elsewhere
        (["ab", "ab", "ab", "ba", "ab"], False),
        (["ab", "cd", "ab", "ab", "ab"], False),
        (["", "", ""], False),  # nothing to look at; hashed as ever
        (["ab", None, "ab"], False),
        (["ab"], False),
        ([], False),
    ],
)
def test_a_column_is_of_one_word_only_where_all_say_the_same(texts: list[str], one: bool) -> None:
    assert is_one_word(pa.array(texts, pa.string())) is one
    assert is_one_word(pa.array(["x", *texts], pa.string()).slice(1)) is one
