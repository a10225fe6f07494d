"""Fills empty billing periods: lines of open months may have none."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.ingestion.raw_lines import RawLines

# See docs/choices.md, empty-billing-periods.


def fill_periods(raw: RawLines, *, manifest_month: str | None, month: str | None) -> RawLines:
    """Take the manifest's month, else the line's date, else the specified month.

    Only in formats whose billing period is optional. A line without a date gets the first day of
    the month, if the month is known.
    """
    if raw.layout.format.columns["period_start"].required:
        return raw
    fields = dict(raw.fields)
    known_month = manifest_month or month
    if fields["usage_start"].null_count and known_month:
        fields["usage_start"] = _fill(fields["usage_start"], _first_day(known_month))
    if "period_start" in fields and fields["period_start"].null_count:
        fallback = _first_day(manifest_month) if manifest_month else fields["usage_start"]
        fields["period_start"] = _fill(fields["period_start"], fallback)
    return replace(raw, fields=fields)


def _first_day(month: str) -> pa.Scalar:
    return pa.scalar(f"{month}-01", pa.string())


def _fill(column: pa.DictionaryArray, fallback: pa.Scalar | pa.DictionaryArray) -> pa.Array:
    values = fallback if isinstance(fallback, pa.Scalar) else fallback.dictionary_decode()
    return pc.coalesce(column.dictionary_decode(), values).dictionary_encode()
