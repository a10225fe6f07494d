"""CSV encoding: texts are restorable and never formulas, numbers stay unchanged."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nimbill.invoicing.exports.csv_file import encode_csv
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.exports import rfc4180
from tests.invoicing.exports.export_requests import (
    BOM,
    GROUPS,
    SETTINGS,
    create_link,
    download_content,
)
from tests.invoicing.exports.formula_escaping import (
    FORMULA_CHARACTERS,
    FORMULAS,
    find_faults,
    parse_with_both_readers,
    unescape_cell,
)
from tests.running_service import Service

HARD = st.sampled_from("=+-@\t\r\n\0＝＋－＠'\",; \ufeff\u2028|a1あ𠮷")
TEXTS = st.one_of(
    st.text(HARD, max_size=8),
    st.text(max_size=20),
    st.sampled_from(FORMULAS),
).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))
NUMBERS = st.decimals(min_value=-(10**12), max_value=10**12, allow_nan=False, allow_infinity=False)
CELLS = st.one_of(TEXTS, NUMBERS, st.integers(), st.none())
ROWS = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(rows=ROWS)
@example(rows=[[text] for text in FORMULAS])
@example(rows=[[Decimal(-1), -1, "-1"]])
@example(rows=[[""], ["\r"], ["\n"], ['"']])
def test_texts_are_restorable_and_never_formulas_and_numbers_stay_unchanged(
    rows: list[list[str | Decimal | int | None]],
) -> None:
    assert find_faults(rows) == []


@given(one=TEXTS, other=TEXTS)
@example(one="=1", other="'=1")
@example(one="'=1", other="''=1")
def test_two_different_texts_are_never_encoded_alike(one: str, other: str) -> None:
    assert (encode_csv(["h"], [[one]]) == encode_csv(["h"], [[other]])) is (one == other)


@pytest.mark.parametrize("text", FORMULAS)
def test_only_texts_that_look_like_formulas_get_a_quote(text: str) -> None:
    _, (cell,) = parse_with_both_readers(encode_csv(["h"], [[text]]))

    runs = text.lstrip("'").startswith(FORMULA_CHARACTERS)
    assert cell == (f"'{text}" if runs else text)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (Decimal("0.10"), "0.10"),
        (Decimal("-0.10"), "-0.10"),
        (Decimal("1E+6"), "1000000"),
        (Decimal("1E-7"), "0.0000001"),
        (Decimal("0E-2"), "0.00"),
        (Decimal(123456789012345678901234567890), "123456789012345678901234567890"),
        (-7, "-7"),
        (None, ""),
    ],
)
def test_a_number_keeps_its_digits(number: Decimal | int | None, written: str) -> None:
    file = encode_csv(["h", "i"], [[number, "x"]])

    assert file == BOM + f"h,i\r\n{written},x\r\n".encode()


def test_the_file_starts_with_one_byte_order_mark() -> None:
    assert encode_csv(["名"], []) == b"\xef\xbb\xbf" + "名\r\n".encode()


def test_formulas_in_every_text_field_of_a_group_are_escaped(service: Service) -> None:
    """Through the whole service, except NUL, which no body may hold."""
    free = ["billinggroup_name", "company_name", "postal", "address", "phone", "personal"]
    free += ["billing_title"]
    texts = [text for text in FORMULAS if text and "\0" not in text]
    root = service.root()
    for number, text in enumerate(texts):
        fields = dict.fromkeys(free, text)
        setting = {"aws": VALID_SETTING}
        create_billing_group(
            service, root, billinggroup_id=f"{text}{number}", invoices=setting, **fields
        )

    files = [
        parse_with_both_readers(download_content(service, create_link(service, address)))[1:]
        for address in (GROUPS, SETTINGS)
    ]

    found = {unescape_cell(row[0]): [unescape_cell(cell) for cell in row[1:8]] for row in files[0]}
    assert found == {f"{text}{number}": [text] * 7 for number, text in enumerate(texts)}
    named = {unescape_cell(row[0]): unescape_cell(row[1]) for row in files[1]}
    assert named == {f"{text}{number}": text for number, text in enumerate(texts)}
    assert not [
        cell
        for rows in files
        for row in rows
        for cell in row
        if cell.startswith(FORMULA_CHARACTERS)
    ]
    assert {row[3] for row in files[1]} == {"0.05"}


# ── the second reader ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text", ["a", "a\n", "a\r", 'a"b"\r\n', '"a\r\n', '"a"b\r\n', "a\rb\r\n", "a,b", '"']
)
def test_the_rfc_4180_reader_is_strict(text: str) -> None:
    with pytest.raises(rfc4180.NotCsv):
        rfc4180.parse(text)


def test_the_rfc_4180_reader_parses_quoted_fields() -> None:
    text = 'a,"b ""c"", d",\r\n"1\r\n2",,""\r\n'

    assert rfc4180.parse(text) == [["a", 'b "c", d', ""], ["1\r\n2", "", ""]]
    assert rfc4180.parse("") == []
