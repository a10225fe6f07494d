"""Normalises batches of raw vendor lines to cost lines; an invalid value refuses the delivery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import COPIED_TEXTS, MONEY, SCHEMA, TIMESTAMP
from nimbill.costs.formats import line_rules
from nimbill.costs.formats.focus import CORRECTION, find_vendor
from nimbill.costs.formats.line_rules import RuleViolation, line_error
from nimbill.costs.formats.nimbill_focus_columns import read_nimbill_columns
from nimbill.costs.ingestion import tags
from nimbill.costs.ingestion.arrow_arrays import TEXT_DICTIONARY, integer_array
from nimbill.costs.ingestion.raw_lines import RawLines

# DOUBLE values are rounded to ten decimals first, which restores what the vendor printed
DOUBLE_SCALE = 10
COMMON_TIME = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"


@dataclass(slots=True)
class ImportWarnings:
    """Observations that are reported with the import and do not stop it."""

    months: Counter[str] = field(default_factory=Counter)
    other_vendors: Counter[str] = field(default_factory=Counter)
    rounded_lines: int = 0
    unreadable_tags: int = 0
    outside_month: int = 0
    has_invoice_ids: bool = False
    formats: set[str] = field(default_factory=set)

    def add(self, other: ImportWarnings) -> None:
        self.months += other.months
        self.other_vendors += other.other_vendors
        self.rounded_lines += other.rounded_lines
        self.unreadable_tags += other.unreadable_tags
        self.outside_month += other.outside_month
        self.has_invoice_ids |= other.has_invoice_ids
        self.formats |= other.formats


@dataclass(frozen=True, slots=True)
class NormalizedBatch:
    lines: pa.Table
    warnings: ImportWarnings


def normalize(raw: RawLines, *, part: int, vendor: str, month: str | None) -> NormalizedBatch:
    """Return only the lines of `vendor`; refuse lines of another month than `month`."""
    return _Normalizer(raw, part, vendor, month).normalize()


class _Normalizer:
    """Normalises one batch of one part."""

    def __init__(self, raw: RawLines, part: int, vendor: str, month: str | None) -> None:
        self.format = raw.layout.format
        self.part, self.vendor, self.month = part, vendor, month
        self.warnings = ImportWarnings(formats={self.format.name})
        self.warnings.has_invoice_ids = "invoice_id" in raw.fields
        if self.format.vendor not in (None, vendor):
            raise line_error(raw.file, "vendor", line=1)
        self.rows = integer_array(np.arange(len(raw)))
        self.raw = self._filter_vendor(raw)
        self.count = len(self.raw)

    def _filter_vendor(self, raw: RawLines) -> RawLines:
        """Lines of other vendors are counted and dropped."""
        if self.format.vendor is not None:
            return raw
        providers = raw.fields["provider"]
        names = providers.dictionary.to_pylist()
        matches = pa.array([find_vendor(name or "") == self.vendor for name in names], pa.bool_())
        keep = matches.take(providers.indices).fill_null(False)
        if pc.all(keep).as_py() is not False:
            return raw
        others = providers.filter(pc.invert(keep))
        for count in others.value_counts().to_pylist():
            self.warnings.other_vendors[count["values"] or ""] += count["counts"]
        self.rows = self.rows.filter(keep)
        fields = {name: array.filter(keep) for name, array in raw.fields.items()}
        return RawLines(raw.file, raw.layout, raw.first_line, fields, raw.tags)

    # ── all columns ──────────────────────────────────────────────────────────────────────────────

    def normalize(self) -> NormalizedBatch:
        usage_start = self._times("usage_start", required=True)
        self._check_months()
        line_type, kind, entry_type = self._classify()
        reservation, savings_plan = self._commitments()
        service = self._service()
        columns: dict[str, Any] = {
            "part": pa.repeat(pa.scalar(self.part, pa.int32()), self.count),
            "line": pc.add(self.rows, self.raw.first_line),
            "payer_id": self._text("payer_id", required=self.format.columns["payer_id"].required),
            "customer_id": self._text("customer_id"),
            "billing_entity": self._text("billing_entity"),
            "line_type": line_type,
            "kind": kind,
            "entry_type": entry_type,
            "service": service,
            "service_name": self._optional("service_name"),
            "marketplace": self._marketplace(),
            "cost": self._money("cost", required=True),
            "currency": self._currency(),
            "usage_start": usage_start,
            "usage_end": self._times("usage_end"),
            "reservation_id": reservation,
            "effective_cost": self._effective_cost(),
            "reservation_number": self._counts("reservation_number"),
            "tags": self._tags(),
        }
        columns |= {name: self._optional(name) for name in COPIED_TEXTS}
        columns["savings_plan_id"] = savings_plan
        return NormalizedBatch(_build_table(columns), self.warnings)

    def _classify(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Return line type, kind and entry type; files exported by Nimbill contain them."""
        if "nimbill_line_type" in self.raw.fields and "nimbill_kind" in self.raw.fields:
            return read_nimbill_columns(
                self._text("nimbill_line_type"),
                self._text("nimbill_kind"),
                self._optional("nimbill_entry_type"),
            )
        line_type = self._line_type()
        classes = [self.format.classify(value) for value in line_type.dictionary.to_pylist()]
        kinds = _map_values(line_type, [class_.kind.value for class_ in classes])
        entry_types = [class_.entry_type and class_.entry_type.value for class_ in classes]
        return line_type, kinds, _map_values(line_type, entry_types)

    def _line_type(self) -> pa.DictionaryArray:
        default = self.format.line_type_default
        if "line_type" not in self.raw.fields:
            assert default is not None
            return pa.array([default] * self.count, pa.string()).dictionary_encode()
        values = self._text("line_type", required=default is None, default=default or "")
        if "charge_class" in self.raw.fields:
            classes = self.raw.fields["charge_class"].dictionary_decode()
            is_correction = pc.equal(classes, CORRECTION.strip()).fill_null(False)
            if pc.any(is_correction).as_py():
                categories = values.dictionary_decode()
                corrections = pc.binary_join_element_wise(categories, CORRECTION.strip(), " ")
                values = pc.if_else(is_correction, corrections, categories).dictionary_encode()
        for line_type, rule in self.format.refused_types.items():
            row = pc.index(values.dictionary_decode(), line_type).as_py()
            if row >= 0:
                raise self._error(rule, row, "line_type")
        return values

    def _check_months(self) -> None:
        """The billing period decides the month; without one, the start of the usage."""
        name = "period_start" if "period_start" in self.raw.fields else "usage_start"
        months = self._months(name)
        lines = _count_lines(self.raw.fields[name], months)
        if self.month is not None and lines.keys() - {self.month}:
            line_months = months.take(self.raw.fields[name].indices)
            raise self._error("month", _first_true(pc.not_equal(line_months, self.month)), name)
        self.warnings.months += lines
        if name != "usage_start" and len(lines) == 1:
            starts = _count_lines(self.raw.fields["usage_start"], self._months("usage_start"))
            self.warnings.outside_month += self.count - starts[next(iter(lines))]

    def _service(self) -> pa.Array:
        service = self._text("service")
        if "service_fallback" not in self.raw.fields:
            return service
        values = service.dictionary_decode()
        fallback = self.raw.fields["service_fallback"].dictionary_decode()
        return pc.if_else(pc.equal(values, ""), fallback, values).fill_null("")

    def _commitments(self) -> tuple[pa.Array, pa.Array]:
        """Return the ids of the reservation and of the savings plan of each line."""
        if "commitment_id" in self.raw.fields:
            ids = self.raw.fields["commitment_id"].dictionary_decode()
            category = self._optional("commitment").dictionary_decode()
            is_plan = pc.equal(category, "Spend").fill_null(False)
            nulls = pa.nulls(self.count, pa.string())
            return pc.if_else(is_plan, nulls, ids), pc.if_else(is_plan, ids, nulls)
        if "benefit_id" in self.raw.fields and "pricing_model" in self.raw.fields:
            model = self.raw.fields["pricing_model"].dictionary_decode()
            is_plan = pc.equal(model, "SavingsPlan").fill_null(False)
            benefit = self.raw.fields["benefit_id"].dictionary_decode()
            plan = pc.if_else(is_plan, benefit, pa.nulls(self.count, pa.string()))
            return self._optional("reservation_id"), plan
        return self._optional("reservation_id"), self._optional("savings_plan_id")

    def _effective_cost(self) -> pa.Array:
        """AWS writes 0 on lines without a commitment, whose effective cost is their cost."""
        effective_cost = self._money("effective_cost")
        if "commitment_id" in self.format.columns:
            return effective_cost
        has_reservation = self._optional("reservation_id").is_valid()
        effective_cost = pc.if_else(has_reservation, effective_cost, None)
        if "plan_effective_cost" not in self.raw.fields:
            return effective_cost
        has_plan = self._optional("savings_plan_id").is_valid()
        return pc.if_else(has_plan, self._money("plan_effective_cost"), effective_cost)

    def _marketplace(self) -> pa.Array:
        values = self._text("marketplace")
        flags = [self.format.is_marketplace(value) for value in values.dictionary.to_pylist()]
        return pa.array(flags, pa.bool_()).take(values.indices)

    def _tags(self) -> pa.MapArray:
        if self.format.tag_prefix is not None:
            return tags.from_columns(self.raw.tags, self.count)
        if "tags" not in self.raw.fields:
            return tags.empty_tags(self.count)
        column = self.raw.fields["tags"]
        if pa.types.is_map(column.type):
            return tags.from_maps(column, self.format.normalize_tag_key)
        parsed, unreadable = tags.from_json(column, self.format.normalize_tag_key)
        self.warnings.unreadable_tags += unreadable
        return parsed

    # ── one column ───────────────────────────────────────────────────────────────────────────────

    def _optional(self, name: str) -> pa.DictionaryArray:
        if name in self.raw.fields:
            return self.raw.fields[name]
        return pa.nulls(self.count, TEXT_DICTIONARY)

    def _text(self, name: str, *, required: bool = False, default: str = "") -> pa.DictionaryArray:
        """Never null: empty values become `default`, or are refused if a value is required."""
        values = self._optional(name)
        clean = self.format.columns[name].clean
        if clean is not None:
            values = _map_values(values, [clean(value) for value in values.dictionary.to_pylist()])
        if values.null_count == 0:
            return values
        if required:
            raise self._error("empty", _first_true(values.is_null()), name)
        return _fill_null(values, default)

    def _parse_dictionary(self, name: str, parse: Callable[[str], Any]) -> list[Any]:
        """Parse each distinct value once; every line must have a value."""
        values = self._optional(name)
        if values.null_count:
            raise self._error("empty", _first_true(values.is_null()), name)
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
        return _map_values(self._optional("currency"), codes)

    def _months(self, name: str) -> pa.Array:
        """Return the month of each distinct value."""
        values = self._optional(name).dictionary
        # `usage_start` has already been parsed, so that common times are known to be valid
        if name == "usage_start" and _are_common_times(values):
            return pc.utf8_slice_codeunits(values, 0, len("yyyy-mm"))
        return pa.array(self._parse_dictionary(name, line_rules.parse_month), pa.string())

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
            raise self._error("empty", _first_true(values.is_null()), name)
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

    def _error(self, rule: str, row: int, name: str) -> Exception:
        line = self.raw.line_number(self.rows[row].as_py())
        return line_error(self.raw.file, rule, line=line, column=self.raw.column_name(name))


def _map_values(array: pa.DictionaryArray, new_values: list[Any]) -> pa.DictionaryArray:
    """Replace each distinct value by another text or null; the new dictionary has no duplicates."""
    mapped = pa.array(new_values, pa.string()).dictionary_encode()
    indices = array.indices
    if len(mapped.dictionary) < len(new_values):
        indices = mapped.indices.take(indices)
    return pa.DictionaryArray.from_arrays(indices, mapped.dictionary)


def _fill_null(array: pa.DictionaryArray, default: str) -> pa.DictionaryArray:
    dictionary = array.dictionary
    code = pc.index(dictionary, default).as_py()
    if code < 0:
        code = len(dictionary)
        dictionary = pa.concat_arrays([dictionary, pa.array([default], pa.string())])
    return pa.DictionaryArray.from_arrays(array.indices.fill_null(code), dictionary)


def _count_lines(array: pa.DictionaryArray, groups: pa.Array) -> Counter[str]:
    """Count lines by group; `groups` has the group of each distinct value of the array."""
    lines = np.bincount(array.indices.to_numpy(), minlength=len(groups))
    encoded = groups.dictionary_encode()  # there are few groups but maybe thousands of values
    codes = encoded.indices.fill_null(-1).to_numpy()
    counts = {
        group: int(lines[codes == code].sum())
        for code, group in enumerate(encoded.dictionary.to_pylist())
    }
    return +Counter(counts)


def _first_true(mask: pa.Array) -> int:
    row: int = pc.index(mask, True).as_py()
    return row


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


def _build_table(columns: dict[str, pa.Array]) -> pa.Table:
    """All batches have the same types, with texts dictionary-encoded."""
    arrays = [
        array.dictionary_encode() if pa.types.is_string(array.type) else array
        for array in (columns[name] for name in SCHEMA.names)
    ]
    fields = [
        pa.field(column.name, array.type, nullable=column.nullable)
        for column, array in zip(SCHEMA, arrays, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema(fields))
