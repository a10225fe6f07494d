"""SQL expressions of the second reading: how DuckDB reads the columns of a vendor's file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.formats.detection import FileLayout
from nimbill.costs.formats.focus import COMPANY_NAMES
from nimbill.costs.formats.format import NULLS
from nimbill.costs.ingestion.focus_sellers import ImportedVendor
from nimbill.costs.ingestion.parts import Limits, Part
from nimbill.foundation.vendor_names import PROVIDER_NAMES


def table_expression(part: Part, layout: FileLayout, limits: Limits, *, parallel: bool) -> str:
    if part.file_type == "parquet":
        return f"read_parquet({quote_text(str(part.path))})"
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(layout.width))
    nulls = ", ".join(map(quote_text, NULLS))
    compression = "gzip" if part.file_type == "csv.gz" else "none"
    return (
        f"read_csv({quote_text(str(part.path))}, columns = {{{columns}}}, nullstr = [{nulls}], "
        f"compression = '{compression}', header = false, skip = 1, "
        "auto_detect = false, delim = ',', quote = '\"', escape = '\"', strict_mode = false, "
        f"null_padding = false, max_line_size = {limits.line_bytes_max}, "
        f"parallel = {'true' if parallel else 'false'})"
    )


def column_expression(part: Part, layout: FileLayout, field: str) -> str:
    if part.file_type == "parquet":
        return '"' + layout.names[field].replace('"', '""') + '"'
    return f"c{layout.positions[field]}"


def vendor_condition(part: Part, layout: FileLayout, vendor: ImportedVendor) -> str:
    """A line of an unknown provider belongs to the vendor that issues its invoice."""
    provider = f"lower(coalesce({column_expression(part, layout, 'provider')}, ''))"
    own_provider = _is_in(provider, vendor.providers)
    if "invoice_issuer" not in layout.positions:
        return own_provider
    issuer = f"lower(coalesce({column_expression(part, layout, 'invoice_issuer')}, ''))"
    companies_of_vendor = COMPANY_NAMES.get(vendor.name, ())
    own_issuer = _is_in(issuer, vendor.providers) + _begins_with(issuer, companies_of_vendor)
    known = [name for names in PROVIDER_NAMES.values() for name in names]
    companies = [name for names in COMPANY_NAMES.values() for name in names]
    other_issuer = _is_in(issuer, known) + _begins_with(issuer, companies)
    return (
        f"CASE WHEN {_is_in(provider, known)} THEN {own_provider} WHEN {own_issuer} THEN true "
        f"WHEN {other_issuer} THEN false ELSE {own_provider} END"
    )


def _is_in(expression: str, names: Iterable[str]) -> str:
    return f"{expression} IN ({', '.join(map(quote_text, sorted(names))) or 'NULL'})"


def _begins_with(expression: str, names: Iterable[str]) -> str:
    return "".join(f" OR starts_with({expression}, {quote_text(name)})" for name in names)


def id_expression(part: Part, layout: FileLayout, fields: Sequence[str]) -> str:
    """Return the first of the fields that has a value; ids are never null."""
    values = [_clean_id(part, layout, field) for field in fields if field in layout.positions]
    return f"coalesce({', '.join([*values, quote_text('')])})"


def _clean_id(part: Part, layout: FileLayout, field: str) -> str:
    """Apply the cleaner of the format; no id is null."""
    column = f"CAST({column_expression(part, layout, field)} AS VARCHAR)"
    cleaner = layout.format.columns[field].cleaner
    if cleaner is not None:
        pattern, replacement = quote_text(cleaner.pattern), quote_text(cleaner.replacement)
        column = f"regexp_replace({column}, {pattern}, {replacement}, 'i')"
    return f"CASE WHEN {column} NOT IN ({', '.join(map(quote_text, NULLS))}) THEN {column} END"


def cost_expression(part: Part, layout: FileLayout) -> str:
    column = column_expression(part, layout, "cost")
    if part.file_type == "parquet" and _is_double(part, layout):
        # formatting with ten decimals first restores what the vendor printed
        column = f"format('{{:.10f}}', {column})"
    return f"CAST({column} AS DECIMAL(38, 22))" + _credits_expression(layout)


def _credits_expression(layout: FileLayout) -> str:
    """The sum of a list of credits, each rounded like the cost; files of others have none."""
    nested = layout.format.nested
    if nested is None or layout.names.get("credits") != nested.credits:
        return ""
    amount = "CAST(CASE WHEN typeof(c.amount) IN ('DOUBLE', 'FLOAT') "
    amount += "THEN format('{:.10f}', CAST(c.amount AS DOUBLE)) "
    amount += "ELSE CAST(c.amount AS VARCHAR) END AS DECIMAL(38, 22))"
    return f' + coalesce(list_sum([{amount} for c in "{nested.credits}"]), 0)'


def _is_double(part: Part, layout: FileLayout) -> bool:
    field = pq.read_schema(part.path).field(layout.names["cost"])
    return bool(pa.types.is_floating(field.type))


def quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
