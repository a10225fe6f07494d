"""Dictionary encoding of text arrays, with a shortcut for constant columns."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.ingestion.arrow_arrays import encode_dictionary, is_constant

TEXTS = st.lists(st.none() | st.text("aé", max_size=3), max_size=6)


@given(TEXTS, st.integers(0, 3))
def test_encoding_keeps_the_values(texts: list[str | None], start: int) -> None:
    array = pa.array(texts, pa.string()).slice(start)

    encoded = encode_dictionary(array)

    assert encoded.to_pylist() == array.to_pylist()
    assert encoded.type == pa.dictionary(pa.int32(), pa.string())
    assert len(encoded.dictionary) == len(set(array.to_pylist()) - {None})


@pytest.mark.parametrize(
    ("texts", "constant"),
    [
        (["ab", "ab", "ab"], True),
        (["aa", "a", "aaa"], False),  # the same bytes with other boundaries
        (["ab", "ab", "ab", "ba", "ab"], False),
        (["ab", "cd", "ab", "ab", "ab"], False),
        (["", "", ""], False),  # no bytes to compare
        (["ab", None, "ab"], False),
        (["ab"], False),
        ([], False),
    ],
)
def test_a_column_is_constant_if_all_values_are_equal(texts: list[str], constant: bool) -> None:
    assert is_constant(pa.array(texts, pa.string())) is constant
    assert is_constant(pa.array(["x", *texts], pa.string()).slice(1)) is constant
