"""Normalises batches of raw vendor lines to cost lines; an invalid value refuses the delivery."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import COPIED_TEXTS, MONEY, SCHEMA, TIMESTAMP
from nimbill.costs.formats import line_rules
from nimbill.costs.formats.focus import CORRECTION
from nimbill.costs.formats.line_rules import RuleViolation, line_error
from nimbill.costs.formats.nimbill_focus_columns import read_nimbill_columns
from nimbill.costs.ingestion import tags
from nimbill.costs.ingestion.amortised_costs import find_amortised_line
from nimbill.costs.ingestion.arrow_arrays import (
    TEXT_DICTIONARY,
    count_lines,
    fill_empty,
    fill_null,
    first_true,
    has_empty,
    integer_array,
    map_values,
)
from nimbill.costs.ingestion.focus_sellers import ImportedVendor, find_lines_of_vendor
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.raw_lines import RawLines

# See docs/choices.md, accounts-of-lines.

WIDE_MONEY = pa.decimal256(60, 22)  # a sum has a digit more
COST_LIMIT = pa.scalar(Decimal(10**16), WIDE_MONEY)

# DOUBLE values are rounded to ten decimals first, which restores what the vendor printed
DOUBLE_SCALE = 10
COMMON_TIME = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"

# column of a cost line to the field that a savings plan has instead
PLAN_TERMS = {
    "reservation_start": "plan_start",
    "reservation_end": "plan_end",
    "payment_option": "plan_payment_option",
    "term_length": "plan_term_length",
}


@dataclass(frozen=True, slots=True)
class NormalizedBatch:
    lines: pa.Table
    warnings: ImportWarnings


class ImportTarget(NamedTuple):
    """What is imported: the lines of a vendor, of one month if it is known."""

    vendor: str
    month: str | None
    manifest_month: str | None = None
    providers: Collection[str] | None = None  # see ImportedVendor


def normalize(raw: RawLines, target: ImportTarget, *, part: int) -> NormalizedBatch:
    """Return only the lines of the vendor; refuse lines of another month."""
    return _Normalizer(raw, target, part).normalize()


class _Normalizer:
    """Normalises one batch of one part."""

    def __init__(self, raw: RawLines, target: ImportTarget, part: int) -> None:
        self.format = raw.layout.format
        self.part, self.vendor, self.month = part, target.vendor, target.month
        self.imported_vendor = ImportedVendor.build(target.vendor, target.providers)
        self.warnings = ImportWarnings(formats={self.format.name})
        self.warnings.has_late_usage = self.format.has_late_usage
        self.warnings.has_invoice_ids = "invoice_id" in raw.fields or self.format.states_invoices
        if self.format.vendor not in (None, self.vendor):
            names = self.format.title, str(self.format.vendor), self.vendor
            raise line_error(raw.file, "vendor", *names, line=1)
        self.rows = integer_array(np.arange(len(raw)))
        self.raw = fill_periods(
            self._filter_vendor(raw),
            manifest_month=target.manifest_month,
            month=target.month,
        )
        self.count = len(self.raw)

    def _filter_vendor(self, raw: RawLines) -> RawLines:
        """Lines of other vendors are counted and dropped."""
        if self.format.vendor is not None:
            return raw
        providers = raw.fields["provider"]
        keep = find_lines_of_vendor(raw.fields, self.imported_vendor)
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
        cost, stated_cost = self._charge(), self._money("effective_cost")
        self._refuse_amortised(line_type, cost, stated_cost)
        reservation, savings_plan = self._commitments()
        service = self._service()
        payer_id, customer_id = self._accounts()
        columns: dict[str, Any] = {
            "part": pa.repeat(pa.scalar(self.part, pa.int32()), self.count),
            "line": pc.add(self.rows, self.raw.first_line),
            "payer_id": payer_id,
            "customer_id": customer_id,
            "billing_entity": self._text("billing_entity"),
            "line_type": line_type,
            "kind": kind,
            "entry_type": entry_type,
            "service": service,
            "service_name": self._optional("service_name"),
            "marketplace": self._marketplace(),
            "cost": cost,
            "currency": self._currency(),
            "usage_start": usage_start,
            "usage_end": self._times("usage_end"),
            "reservation_id": reservation,
            "effective_cost": self._effective_cost(stated_cost),
            "reservation_number": self._counts("reservation_number"),
            "tags": self._tags(),
        }
        columns |= {name: self._optional(name) for name in COPIED_TEXTS}
        columns["savings_plan_id"] = savings_plan
        columns |= self._plan_terms(savings_plan)
        columns["description"] = self._description()
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
        kinds = map_values(line_type, [class_.kind.value for class_ in classes])
        entry_types = [class_.entry_type and class_.entry_type.value for class_ in classes]
        return line_type, kinds, map_values(line_type, entry_types)

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
        return values

    def _refuse_amortised(self, line_type: pa.Array, cost: pa.Array, effective: pa.Array) -> None:
        if "nimbill_kind" in self.raw.fields:
            return  # exported by Nimbill, which stores no amortised costs
        costs = {"cost": cost, "effective_cost": effective}
        found = find_amortised_line(
            self.format, self.vendor, self.raw.fields, line_type=line_type, costs=costs
        )
        if found is not None:
            assert self.format.amortised is not None, "it names what to import instead"
            names = self.format.title, self.vendor, found.reason, self.format.amortised.instead
            raise self._error("amortised", found.row, found.field, *names)

    def _check_months(self) -> None:
        """The billing period decides the month; without one, the start of the usage."""
        name = "period_start" if "period_start" in self.raw.fields else "usage_start"
        months = self._months(name)
        if self.format.has_late_usage and self.month is not None:
            months = pc.max_element_wise(months, self.month)
        lines = count_lines(self.raw.fields[name], months)
        if self.month is not None and lines.keys() - {self.month}:
            line_months = months.take(self.raw.fields[name].indices)
            row = first_true(pc.not_equal(line_months, self.month))
            raise self._error("month", row, name, line_months[row].as_py(), self.month)
        self.warnings.months += lines
        if name != "usage_start" and len(lines) == 1:
            starts = count_lines(self.raw.fields["usage_start"], self._months("usage_start"))
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
            plan = self._benefit_ids("SavingsPlan")
            if "reservation_id" in self.format.columns:
                return self._optional("reservation_id"), plan
            return self._benefit_ids("Reservation"), plan
        return self._optional("reservation_id"), self._optional("savings_plan_id")

    def _plan_terms(self, savings_plan: pa.Array) -> dict[str, pa.Array]:
        """AWS has columns of their own for the terms of a savings plan."""
        terms = {
            name: plan_name
            for name, plan_name in PLAN_TERMS.items()
            if plan_name in self.raw.fields
        }
        if not terms or savings_plan.null_count == self.count:
            return {}
        has_plan = savings_plan.is_valid()
        return {
            name: pc.if_else(
                has_plan,
                self._optional(plan_name).dictionary_decode(),
                self._optional(name).dictionary_decode(),
            )
            for name, plan_name in terms.items()
        }

    def _charge(self) -> pa.Array:
        """The cost of a line, with its credits where the format lists them separately."""
        cost = self._money("cost", required=True)
        if "credits" not in self.raw.fields:
            return cost
        credits_ = self._money("credits").fill_null(Decimal(0))
        total = pc.add(cost.cast(WIDE_MONEY), credits_.cast(WIDE_MONEY))
        try:
            return total.cast(MONEY)
        except pa.ArrowInvalid:
            row = first_true(pc.greater_equal(pc.abs(total), COST_LIMIT))
            raise self._error("number_range", row, "cost") from None

    def _description(self) -> pa.Array:
        """An adjustment has a description of its own."""
        if "adjustment" not in self.raw.fields:
            return self._optional("description")
        texts = (self._optional(name).dictionary_decode() for name in ("adjustment", "description"))
        return pc.coalesce(*texts)

    def _benefit_ids(self, model: str) -> pa.Array:
        models = self.raw.fields["pricing_model"].dictionary_decode()
        has_model = pc.equal(models, model).fill_null(False)
        benefits = self.raw.fields["benefit_id"].dictionary_decode()
        return pc.if_else(has_model, benefits, pa.nulls(self.count, pa.string()))

    def _accounts(self) -> tuple[pa.Array, pa.Array]:
        """A line that names no account belongs to its payer, and the other way round."""
        payer = self._text("payer_id", required=self.format.columns["payer_id"].required)
        customer = self._text("customer_id")
        if has_empty(customer) and "customer_fallback" in self.format.columns:
            customer = fill_empty(customer, self._text("customer_fallback"))
        if not has_empty(customer) and not has_empty(payer):
            return payer, customer
        payer, customer = fill_empty(payer, customer), fill_empty(customer, payer)
        row = first_true(pc.equal(customer.dictionary_decode(), ""))
        if row >= 0:
            raise self._error("empty", row, "customer_id")
        return payer, customer

    def _effective_cost(self, effective_cost: pa.Array) -> pa.Array:
        """AWS writes 0 on lines without a commitment, whose effective cost is their cost."""
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
        if "provider" in self.format.columns and has_empty(values):
            values = fill_empty(values, self._text("provider"))
        flags = [
            self.format.is_marketplace(value)
            and value.lower() not in self.imported_vendor.providers
            for value in values.dictionary.to_pylist()
        ]
        return pa.array(flags, pa.bool_()).take(values.indices)

    def _tags(self) -> pa.MapArray:
        own_tags = self._own_tags()
        key = self.format.project_tag
        if key is None or "project_id" not in self.raw.fields:
            return own_tags
        return tags.add_tag(own_tags, key, self.raw.fields["project_id"])

    def _own_tags(self) -> pa.MapArray:
        has_one_column = "tags" in self.raw.fields and not self.raw.tags
        if self.format.tag_prefix is not None and not has_one_column:
            return tags.from_columns(self.raw.tags, self.count)
        if "tags" not in self.raw.fields:
            return tags.empty_tags(self.count)
        column = self.raw.fields["tags"]
        if pa.types.is_map(column.type):
            return tags.from_maps(column, self.format.normalize_tag_key)
        parsed, unreadable = tags.from_json(column, self.format.normalize_tag_key)
        self.warnings.unreadable_tags += unreadable
        return parsed

    # ── single columns ───────────────────────────────────────────────────────────────────────────

    def _optional(self, name: str) -> pa.DictionaryArray:
        if name in self.raw.fields:
            return self.raw.fields[name]
        return pa.nulls(self.count, TEXT_DICTIONARY)

    def _text(self, name: str, *, required: bool = False, default: str = "") -> pa.DictionaryArray:
        """Never null: empty values become `default`, or are refused if a value is required."""
        values = self._optional(name)
        cleaner = self.format.columns[name].cleaner
        if cleaner is not None:
            texts = values.dictionary.to_pylist()
            values = map_values(values, [cleaner.clean(text) for text in texts])
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
