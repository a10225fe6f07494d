"""A vendor's lines brought to ours, a piece at a time: what is wrong with one stops the import."""

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

from nimbill.costs.cost_line import MOMENT, MONEY, RESERVATION_TEXTS, SCHEMA
from nimbill.costs.formats import line_rules
from nimbill.costs.formats.focus import CORRECTION, vendor_of
from nimbill.costs.formats.line_rules import RuleBroken, refusal
from nimbill.costs.formats.nimbill_focus_columns import written_here
from nimbill.costs.ingestion import tags
from nimbill.costs.ingestion.arrow_arrays import integers
from nimbill.costs.ingestion.raw_lines import WORDS, RawLines

# DOUBLE columns are rounded here first, which gives back what the vendor printed
DOUBLE_SCALE = 10
USUAL_MOMENT = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
_PLAIN = ("customer_name", "usage_type", "description", "invoice_id", "savings_plan_id")


@dataclass(slots=True)
class ImportWarnings:
    """What is counted and shown, and stops nothing."""

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
    noticed: ImportWarnings


def normalize(raw: RawLines, *, part: int, vendor: str, month: str | None) -> NormalizedBatch:
    """Our lines of this piece."""
    return _Piece(raw, part, vendor, month).brought()


class _Piece:
    """One piece of one part, while it is worked on."""

    def __init__(self, raw: RawLines, part: int, vendor: str, month: str | None) -> None:
        self.format = raw.layout.format
        self.part, self.vendor, self.month = part, vendor, month
        self.noticed = ImportWarnings(formats={self.format.name})
        self.noticed.has_invoice_ids = "invoice_id" in raw.fields
        if self.format.vendor not in (None, vendor):
            raise refusal(raw.file, "vendor", line=1)
        self.rows = integers(np.arange(len(raw)))
        self.raw = self._own(raw)
        self.count = len(self.raw)

    def _own(self, raw: RawLines) -> RawLines:
        """The lines of the vendor that was named; those of others are counted."""
        if self.format.vendor is not None:
            return raw
        words = raw.fields["provider"]
        names = words.dictionary.to_pylist()
        ours = pa.array([vendor_of(name or "") == self.vendor for name in names], pa.bool_())
        keep = ours.take(words.indices).fill_null(False)
        if pc.all(keep).as_py() is not False:
            return raw
        others = words.filter(pc.invert(keep))
        for count in others.value_counts().to_pylist():
            self.noticed.other_vendors[count["values"] or ""] += count["counts"]
        self.rows = self.rows.filter(keep)
        kept = {name: array.filter(keep) for name, array in raw.fields.items()}
        return RawLines(raw.file, raw.layout, raw.first_line, kept, raw.tags)

    # ── the lines ────────────────────────────────────────────────────────────────────────────────

    def brought(self) -> NormalizedBatch:
        usage_start = self._moments("usage_start", needed=True)
        self._months()
        line_type, kind, entry_type = self._what()
        reservation, plan = self._commitments()
        service = self._service()
        columns: dict[str, Any] = {
            "part": pa.repeat(pa.scalar(self.part, pa.int32()), self.count),
            "line": pc.add(self.rows, self.raw.first_line),
            "payer_id": self._text("payer_id", needed=self.format.columns["payer_id"].required),
            "customer_id": self._text("customer_id"),
            "billing_entity": self._text("billing_entity"),
            "line_type": line_type,
            "kind": kind,
            "entry_type": entry_type,
            "service": service,
            "service_name": self._optional("service_name"),
            "marketplace": self._marketplace(),
            "cost": self._money("cost", needed=True),
            "currency": self._currency(),
            "usage_start": usage_start,
            "usage_end": self._moments("usage_end"),
            "reservation_id": reservation,
            "effective_cost": self._effective_cost(),
            "reservation_number": self._counts("reservation_number"),
            "tags": self._tags(),
        }
        columns |= {name: self._optional(name) for name in (*_PLAIN, *RESERVATION_TEXTS)}
        columns["savings_plan_id"] = plan
        return NormalizedBatch(_table(columns), self.noticed)

    def _what(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Line type, kind and entry type: by the format's table, or as a file of ours tells."""
        if "told_line_type" in self.raw.fields and "told_kind" in self.raw.fields:
            told = (self._text("told_line_type"), self._text("told_kind"))
            return written_here(*told, self._optional("told_entry_type"))
        line_type = self._line_type()
        meanings = [self.format.meaning_of(word) for word in line_type.dictionary.to_pylist()]
        kinds = _mapped(line_type, [meaning.kind.value for meaning in meanings])
        types = [meaning.entry_type and meaning.entry_type.value for meaning in meanings]
        return line_type, kinds, _mapped(line_type, types)

    def _line_type(self) -> pa.DictionaryArray:
        default = self.format.line_type_default
        if "line_type" not in self.raw.fields:
            assert default is not None
            return pa.array([default] * self.count, pa.string()).dictionary_encode()
        words = self._text("line_type", needed=default is None, empty=default or "")
        if "charge_class" in self.raw.fields:
            classes = self.raw.fields["charge_class"].dictionary_decode()
            corrected = pc.equal(classes, CORRECTION.strip()).fill_null(False)
            if pc.any(corrected).as_py():
                plain = words.dictionary_decode()
                told = pc.binary_join_element_wise(plain, CORRECTION.strip(), " ")
                words = pc.if_else(corrected, told, plain).dictionary_encode()
        for word, rule in self.format.refused_types.items():
            row = pc.index(words.dictionary_decode(), word).as_py()
            if row >= 0:
                raise self._refusal(rule, row, "line_type")
        return words

    def _months(self) -> None:
        """The month is the billing period's, and the usage's only where no period is told."""
        field_ = "period_start" if "period_start" in self.raw.fields else "usage_start"
        months = self._month_by_word(field_)
        lines = _lines_by_value(self.raw.fields[field_], months)
        if self.month is not None and lines.keys() - {self.month}:
            of_lines = months.take(self.raw.fields[field_].indices)
            raise self._refusal("month", _first(pc.not_equal(of_lines, self.month)), field_)
        self.noticed.months += lines
        if field_ != "usage_start" and len(lines) == 1:
            starts = _lines_by_value(
                self.raw.fields["usage_start"], self._month_by_word("usage_start")
            )
            self.noticed.outside_month += self.count - starts[next(iter(lines))]

    def _service(self) -> pa.Array:
        service = self._text("service")
        if "service_else" not in self.raw.fields:
            return service
        found = service.dictionary_decode()
        other = self.raw.fields["service_else"].dictionary_decode()
        return pc.if_else(pc.equal(found, ""), other, found).fill_null("")

    def _commitments(self) -> tuple[pa.Array, pa.Array]:
        """The reservation and the savings plan a line belongs to."""
        if "commitment_id" in self.raw.fields:
            ids = self.raw.fields["commitment_id"].dictionary_decode()
            of = self._optional("commitment")
            is_plan = pc.equal(of.dictionary_decode(), "Spend").fill_null(False)
            nothing = pa.nulls(self.count, pa.string())
            return pc.if_else(is_plan, nothing, ids), pc.if_else(is_plan, ids, nothing)
        if "benefit_id" in self.raw.fields and "pricing_model" in self.raw.fields:
            model = self.raw.fields["pricing_model"].dictionary_decode()
            is_plan = pc.equal(model, "SavingsPlan").fill_null(False)
            benefit = self.raw.fields["benefit_id"].dictionary_decode()
            plan = pc.if_else(is_plan, benefit, pa.nulls(self.count, pa.string()))
            return self._optional("reservation_id"), plan
        return self._optional("reservation_id"), self._optional("savings_plan_id")

    def _effective_cost(self) -> pa.Array:
        of_reservation = self._money("effective_cost")
        if "plan_effective_cost" not in self.raw.fields:
            return of_reservation
        of_plan = self._money("plan_effective_cost")
        has_plan = self._optional("savings_plan_id").is_valid()
        return pc.if_else(has_plan, of_plan, of_reservation)

    def _marketplace(self) -> pa.Array:
        words = self._text("marketplace")
        told = [self.format.is_marketplace(word) for word in words.dictionary.to_pylist()]
        return pa.array(told, pa.bool_()).take(words.indices)

    def _tags(self) -> pa.MapArray:
        if self.format.tag_prefix is not None:
            return tags.from_columns(self.raw.tags, self.count)
        if "tags" not in self.raw.fields:
            return tags.none(self.count)
        written = self.raw.fields["tags"]
        if pa.types.is_map(written.type):
            return tags.from_maps(written, self.format.tag_key)
        read, wrong = tags.from_text(written, self.format.tag_key)
        self.noticed.unreadable_tags += wrong
        return read

    # ── one column ───────────────────────────────────────────────────────────────────────────────

    def _optional(self, name: str) -> pa.DictionaryArray:
        if name in self.raw.fields:
            return self.raw.fields[name]
        return pa.nulls(self.count, WORDS)

    def _text(self, name: str, *, needed: bool = False, empty: str = "") -> pa.DictionaryArray:
        """Never null; Broken where it is empty and needed."""
        words = self._optional(name)
        clean = self.format.columns[name].clean
        if clean is not None:
            words = _mapped(words, [clean(word) for word in words.dictionary.to_pylist()])
        if words.null_count == 0:
            return words
        if needed:
            raise self._refusal("empty", _first(words.is_null()), name)
        return _filled(words, empty)

    def _by_word(self, name: str, read: Callable[[str], Any]) -> list[Any]:
        """What each word says, read once; no line may lack one."""
        words = self._optional(name)
        if words.null_count:
            raise self._refusal("empty", _first(words.is_null()), name)
        values = []
        for code, word in enumerate(words.dictionary.to_pylist()):
            try:
                values.append(read(word))
            except RuleBroken as broken:
                row = pc.index(words.indices, code).as_py()
                if row >= 0:  # else a word that no line uses
                    raise self._refusal(str(broken), row, name) from None
                values.append(None)
        return values

    def _currency(self) -> pa.DictionaryArray:
        values = self._by_word("currency", line_rules.currency)
        return _mapped(self._optional("currency"), values)

    def _month_by_word(self, name: str) -> pa.Array:
        words = self._optional(name)
        if name == "usage_start" and _are_usual(words.dictionary):  # and have been read as moments
            return pc.utf8_slice_codeunits(words.dictionary, 0, len("yyyy-mm"))
        return pa.array(self._by_word(name, line_rules.month_of), pa.string())

    def _moments(self, name: str, *, needed: bool = False) -> pa.Array:
        words = self._optional(name)
        if _are_usual(words.dictionary) and not (needed and words.null_count):
            try:
                return words.dictionary.cast(MOMENT).take(words.indices)
            except pa.ArrowInvalid:
                pass  # a day or an hour that there is not; which one is found out word by word
        if needed:
            values = self._by_word(name, line_rules.moment)
            return pa.array(values, MOMENT).take(words.indices)
        read = [_moment_or_none(word) for word in words.dictionary.to_pylist()]
        return pa.array(read, MOMENT).take(words.indices)

    def _counts(self, name: str) -> pa.Array:
        words = self._optional(name)
        read = [line_rules.whole_number(word) for word in words.dictionary.to_pylist()]
        return pa.array(read, pa.int64()).take(words.indices)

    def _money(self, name: str, *, needed: bool = False) -> pa.Array:
        if name not in self.raw.fields:
            return pa.nulls(self.count, MONEY)
        written = self.raw.fields[name]
        if needed and written.null_count:
            raise self._refusal("empty", _first(written.is_null()), name)
        if written.null_count == self.count:
            return pa.nulls(self.count, MONEY)
        try:
            if pa.types.is_floating(written.type):
                return written.cast(pa.decimal128(38, DOUBLE_SCALE)).cast(MONEY)
            if pa.types.is_dictionary(written.type):
                written = written.dictionary_decode()
            if _has_long_words(written):
                return self._money_slowly(name, written, needed=needed)
            return written.cast(MONEY)
        except pa.ArrowInvalid:
            return self._money_slowly(name, written, needed=needed)

    def _money_slowly(self, name: str, written: pa.Array, *, needed: bool) -> pa.Array:
        """One by one: more digits than we keep, or no number; which of the two, and where."""
        values: list[Decimal | None] = []
        for row, word in enumerate(written.cast(pa.string()).to_pylist()):
            try:
                value = None if word is None else line_rules.number(word)
            except RuleBroken as broken:
                raise self._refusal(str(broken), row, name) from None
            if word is not None and needed:
                self.noticed.rounded_lines += value != Decimal(word)
            values.append(value)
        return pa.array(values, MONEY)

    def _refusal(self, rule: str, row: int, name: str) -> Exception:
        line = self.raw.line(self.rows[row].as_py())
        return refusal(self.raw.file, rule, line=line, column=self.raw.column(name))


def _mapped(words: pa.DictionaryArray, values: list[Any]) -> pa.DictionaryArray:
    """Another word for each, or none; the same word stands in a dictionary once."""
    mapped = pa.array(values, pa.string()).dictionary_encode()
    indices = words.indices
    if len(mapped.dictionary) < len(values):
        indices = mapped.indices.take(indices)
    return pa.DictionaryArray.from_arrays(indices, mapped.dictionary)


def _filled(words: pa.DictionaryArray, empty: str) -> pa.DictionaryArray:
    """This word where there is none."""
    known = words.dictionary
    code = pc.index(known, empty).as_py()
    if code < 0:
        code, known = len(known), pa.concat_arrays([known, pa.array([empty], pa.string())])
    return pa.DictionaryArray.from_arrays(words.indices.fill_null(code), known)


def _lines_by_value(words: pa.DictionaryArray, values: pa.Array) -> Counter[str]:
    """On how many lines the words say this; a word that no line uses says nothing."""
    lines = np.bincount(words.indices.to_numpy(), minlength=len(values))
    said = values.dictionary_encode()  # a few, of words there may be thousands
    codes = said.indices.fill_null(-1).to_numpy()
    counts = {
        value: int(lines[codes == code].sum())
        for code, value in enumerate(said.dictionary.to_pylist())
    }
    return +Counter(counts)


def _first(mask: pa.Array) -> int:
    row: int = pc.index(mask, True).as_py()
    return row


def _has_long_words(written: pa.Array) -> bool:
    """Arrow reads more digits than fit a decimal modulo 2^128: 2^128 + 5 would cost 5."""
    if not (pa.types.is_string(written.type) or pa.types.is_large_string(written.type)):
        return False
    longest: int = pc.max(pc.binary_length(written)).as_py() or 0
    return longest > int(MONEY.precision)


def _are_usual(words: pa.Array) -> bool:
    """Whether all are moments as nearly everybody writes them, which Arrow reads as we do."""
    return pc.all(pc.match_substring_regex(words, USUAL_MOMENT)).as_py() is True


def _moment_or_none(word: str | None) -> datetime | None:
    try:
        return None if word is None else line_rules.moment(word)
    except RuleBroken:
        return None


def _table(columns: dict[str, pa.Array]) -> pa.Table:
    """Every piece has the same types: text as words. What may not be null is written so."""
    arrays = [_fit(columns[name]) for name in SCHEMA.names]
    fields = [
        pa.field(told.name, array.type, nullable=told.nullable)
        for told, array in zip(SCHEMA, arrays, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema(fields))


def _fit(array: pa.Array) -> pa.Array:
    return array.dictionary_encode() if pa.types.is_string(array.type) else array
