"""Which lines of a FOCUS file belong to a vendor; both readings decide alike."""

from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from nimbill.costs.ingestion.focus_sellers import ImportedVendor, find_lines_of_vendor
from nimbill.costs.ingestion.second_reading_sql import vendor_condition

AWS = ImportedVendor.build("aws")
ORACLE = ImportedVendor.build("oracle", ["oracle"])
COLUMNS = ("provider", "invoice_issuer")
LAYOUT: Any = SimpleNamespace(
    positions={name: position for position, name in enumerate(COLUMNS)},
    names={name: name for name in COLUMNS},
)
PART: Any = SimpleNamespace(file_type="parquet")


@pytest.mark.parametrize(
    ("provider", "issuer", "vendors"),
    [
        ("AWS", "Amazon Web Services EMEA SARL", ["aws"]),
        ("AWS", "Oracle", ["aws"]),  # a known provider decides alone
        ("Databricks", "Amazon Web Services, Inc.", ["aws"]),
        ("Databricks", "Databricks", []),
        ("Databricks", None, []),
        ("Oracle", "Oracle", ["oracle"]),
        ("Oracle", "Oracle Japan", ["oracle"]),  # no vendor is known of the issuer
        ("Oracle", None, ["oracle"]),
        ("Oracle", "Amazon Web Services Japan G.K.", ["aws"]),  # sold in the marketplace of AWS
        ("Oracle", "Microsoft Corporation", []),
        (None, "Oracle", ["oracle"]),
        (None, None, []),
    ],
)
def test_a_line_belongs_to_its_provider_or_to_the_issuer_of_the_invoice(
    provider: str | None, issuer: str | None, vendors: list[str]
) -> None:
    values = dict(zip(COLUMNS, (provider, issuer), strict=True))
    fields = {
        name: pa.array([value], pa.string()).dictionary_encode() for name, value in values.items()
    }

    for vendor in (AWS, ORACLE):
        first = find_lines_of_vendor(fields, vendor).to_pylist()
        condition = vendor_condition(PART, LAYOUT, vendor)
        query = f"SELECT {condition} FROM (VALUES (?, ?)) AS lines(provider, invoice_issuer)"
        second = [row[0] for row in duckdb.execute(query, [provider, issuer]).fetchall()]

        assert first == second == [vendor.name in vendors], vendor.name
