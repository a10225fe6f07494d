"""Parses single columns of a batch of raw vendor lines; an invalid value refuses the delivery."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import MONEY, TIMESTAMP
from nimbill.costs.formats import line_rules
from nimbill.costs.formats.format import Format
from nimbill.costs.formats.line_rules import RuleViolation, line_error
from nimbill.costs.ingestion.arrow_arrays import TEXT_DICTIONARY, fill_null, first_true, map_values
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.raw_lines import RawLines

# DOUBLE values are rounded to ten decimals first, which restores what the vendor printed
DOUBLE_SCALE = 10
COMMON_TIME = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"


class RawColumns:
    """The columns of one batch. A subclass decides which lines of it are kept."""

    format: Format
    raw: RawLines
    rows: pa.Array  # of the kept lines within the batch
    count: int
    warnings: ImportWarnings

    def _optional(self, name: str) -> pa.DictionaryArray:
        if name in self.raw.fields:
            return self.raw.fields[name]
        return pa.nulls(self.count, TEXT_DICTIONARY)

    def _text(self, name: str, *, required: bool = False, default: str = "") -> pa.DictionaryArray:
        """Never null: empty values become `default`, or are refused if a value is required."""
        values = self._optional(name)
        clean = self.format.columns[name].clean
        if clean is not None:
            values = map_values(values, [clean(value) for value in values.dictionary.to_pylist()])
        if values.null_count == 0:
            return values
        if required:
            raise self._error("empty", first_true(values.is_null()), name)
        return fill_null(values, default)

    def _parse_dictionary(self, name: str, parse: Callable[[str], Any]) -> list[Any]:
        """Parse each distinct value once; every line must have a value."""
        values = self._optional(name)
        if values.null_count:
            raise self._error("empty", first_true(values.is_null()), name)
        parsed = []
        for code, value in enumerate(values.dictionary.to_pylist()):
            try:
                parsed.append(parse(value))
            except RuleViolation as violation:
                row = pc.index(values.indices, code).as_py()
                if row >= 0:  # otherwise no line uses the value
                    raise self._error(str(violation), row, name) from None
                parsed.append(None)
        return parsed

    def _currency(self) -> pa.DictionaryArray:
        codes = self._parse_dictionary("currency", line_rules.parse_currency)
        return map_values(self._optional("currency"), codes)

    def _months(self, name: str) -> pa.Array:
        """Return the month of each distinct value."""
        values = self._optional(name).dictionary
        # `usage_start` has already been parsed, so that common times are known to be valid
        if name == "usage_start" and _are_common_times(values):
            return pc.utf8_slice_codeunits(values, 0, len("yyyy-mm"))
        is_period = name == "period_start"
        parse = self.format.parse_month if is_period else line_rules.parse_month
        return pa.array(self._parse_dictionary(name, parse), pa.string())

    def _times(self, name: str, *, required: bool = False) -> pa.Array:
        values = self._optional(name)
        if _are_common_times(values.dictionary) and not (required and values.null_count):
            try:
                return values.dictionary.cast(TIMESTAMP).take(values.indices)
            except pa.ArrowInvalid:
                pass  # a day or hour that does not exist; the code below finds it
        if required:
            times = self._parse_dictionary(name, line_rules.parse_time)
            return pa.array(times, TIMESTAMP).take(values.indices)
        optional_times = [_parse_time_or_none(value) for value in values.dictionary.to_pylist()]
        return pa.array(optional_times, TIMESTAMP).take(values.indices)

    def _counts(self, name: str) -> pa.Array:
        values = self._optional(name)
        counts = [line_rules.parse_count(value) for value in values.dictionary.to_pylist()]
        return pa.array(counts, pa.int64()).take(values.indices)

    def _money(self, name: str, *, required: bool = False) -> pa.Array:
        if name not in self.raw.fields:
            return pa.nulls(self.count, MONEY)
        values = self.raw.fields[name]
        if required and values.null_count:
            raise self._error("empty", first_true(values.is_null()), name)
        if values.null_count == self.count:
            return pa.nulls(self.count, MONEY)
        try:
            if pa.types.is_floating(values.type):
                return values.cast(pa.decimal128(38, DOUBLE_SCALE)).cast(MONEY)
            if pa.types.is_dictionary(values.type):
                values = values.dictionary_decode()
            if _has_long_texts(values):
                return self._parse_money(name, values, required=required)
            return values.cast(MONEY)
        except pa.ArrowInvalid:
            return self._parse_money(name, values, required=required)

    def _parse_money(self, name: str, values: pa.Array, *, required: bool) -> pa.Array:
        """Parse one by one: rounds values with too many digits and finds invalid numbers."""
        amounts: list[Decimal | None] = []
        for row, text in enumerate(values.cast(pa.string()).to_pylist()):
            try:
                amount = None if text is None else line_rules.parse_amount(text)
            except RuleViolation as violation:
                raise self._error(str(violation), row, name) from None
            if text is not None and required:
                self.warnings.rounded_lines += amount != Decimal(text)
            amounts.append(amount)
        return pa.array(amounts, MONEY)

    def _error(self, rule: str, row: int, name: str, *values: str) -> Exception:
        line, column = self.raw.line_number(self.rows[row].as_py()), self.raw.column_name(name)
        return line_error(self.raw.file, rule, *values, line=line, column=column)


def _has_long_texts(array: pa.Array) -> bool:
    """Arrow parses too many digits modulo 2^128: 2^128 + 5 would become 5."""
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return False
    longest: int = pc.max(pc.binary_length(array)).as_py() or 0
    return longest > int(MONEY.precision)


def _are_common_times(values: pa.Array) -> bool:
    """Whether all values have the most common form, which Arrow parses like `parse_time`."""
    return pc.all(pc.match_substring_regex(values, COMMON_TIME)).as_py() is True


def _parse_time_or_none(text: str | None) -> datetime | None:
    try:
        return None if text is None else line_rules.parse_time(text)
    except RuleViolation:
        return None
