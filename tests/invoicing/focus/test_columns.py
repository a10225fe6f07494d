"""The columns of the FOCUS data sets that are made of invoices equal the specification."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from nimbill.costs.focus_columns import FocusColumn
from nimbill.invoicing.focus.columns import AMOUNT, BILLING_PERIOD, INVOICE_DETAIL
from tests.contract.specification import read_table

TYPES = {
    "String": pa.string(),
    "JSON": pa.string(),
    "Decimal": AMOUNT,
    "Date/Time": pa.timestamp("us", tz="UTC"),
}


@pytest.mark.parametrize(
    ("heading", "columns"),
    [
        ("FOCUS 1.4 invoice detail columns", INVOICE_DETAIL),
        ("FOCUS 1.4 billing period columns", BILLING_PERIOD),
    ],
)
def test_the_columns_equal_the_specification(
    heading: str, columns: Mapping[str, FocusColumn]
) -> None:
    rows = read_table(heading, "Column")

    assert {
        name: FocusColumn(TYPES[type_], level.endswith("?")) for name, level, type_ in rows
    } == (columns)
    assert [name for name, *_ in rows] == list(columns)
