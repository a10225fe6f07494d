"""Explains each printed amount of an invoice from its stored document. Pure functions."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    ExactAmount,
    expand_amount,
    strip_zeros,
    subtract_decimals,
    sum_decimals,
    to_exact,
)
from nimbill.invoicing.calculation.charges import AppliedEntry, UsageCharge
from nimbill.invoicing.calculation.fees import (
    ExactFee,
    calculate_agency_fee,
    calculate_support_fee,
    counts_for_support,
    find_support_in_agency_base,
    select_support_lines,
)
from nimbill.invoicing.calculation.line_builder import (
    LineBuilder,
    number_enabled_items,
    sort_entries,
)
from nimbill.invoicing.calculation.lines import EntryLine, Explanation, Fee, ItemLine, UsageLine
from nimbill.invoicing.calculation.sheet import RULES
from nimbill.invoicing.calculation.usage import ExactUsage, group_usage
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.explanation.bodies import (
    AmountKind,
    ExplainedAmount,
    ExplainedPart,
    PartKind,
)

LineKey = tuple[str, str, bool]  # account or tag value, service, marketplace


@dataclass(slots=True)
class _Amounts:
    """The printed amounts so far; the totals add them up."""

    parts: list[ExplainedPart] = field(default_factory=list)
    tax_free_lines: set[str] = field(default_factory=set)


class InvoiceExplainer:
    """Recalculates the exact amounts, which the document does not contain, from its inputs."""

    def __init__(self, document: InvoiceDocument) -> None:
        self.document, self.sheet, self.terms = document, document.sheet, document.terms
        charges = document.charges
        self.builder = LineBuilder(charges.cost_currency, self.terms)
        self.usage = group_usage(charges.usage, self.terms)
        self.support = calculate_support_fee(self.usage, charges, self.terms)
        self.agency = calculate_agency_fee(self.usage, self.support, charges, self.terms)
        self.printed = _Amounts()

    def explain(self) -> Iterator[ExplainedAmount]:
        """Explain all amounts in page order, with parts that have no days."""
        for amount in self._explain_lines():
            self.printed.parts.append(
                _build_part(
                    "line",
                    amount.line,
                    amount.label,
                    amount.amount,
                    self.terms.currency,
                    customer_id=amount.customer_id,
                    customer_name=amount.customer_name,
                    service=amount.service,
                )
            )
            yield amount
        yield from self._explain_totals()

    def _explain_lines(self) -> Iterator[ExplainedAmount]:
        charges = self._group_charges()
        pairs = zip(self.sheet.lines, self.usage, strict=True)
        for number, (usage_line, usage) in enumerate(pairs, start=1):
            of_line = charges[self.find_key(usage_line)]
            yield self._explain_usage(number, usage_line, usage, of_line)
        if self.sheet.support is not None and self.support is not None:
            yield self._explain_fee("support", self.sheet.support, self.support)
        if self.sheet.agency is not None and self.agency is not None:
            yield self._explain_fee("agency", self.sheet.agency, self.agency)
        entries = zip(self.sheet.entries, sort_entries(self.document.charges.entries), strict=True)
        for number, (entry_line, entry) in enumerate(entries, start=1):
            yield self._explain_entry(number, entry_line, entry)
        enabled = [item for _, item in number_enabled_items(self.document.charges.items)]
        for number, (line, item) in enumerate(zip(self.sheet.items, enabled, strict=True), start=1):
            yield self._explain_item(number, line, item.total)

    # ── usage ────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_by_tag(self) -> bool:
        return self.terms.calc_type == "tag"

    def find_key(self, line: UsageLine | UsageCharge) -> LineKey:
        owner = line.tag if self.is_by_tag else line.customer_id
        return owner, line.service, line.marketplace

    def _group_charges(self) -> dict[LineKey, list[UsageCharge]]:
        charges: dict[LineKey, list[UsageCharge]] = defaultdict(list)
        for charge in self.document.charges.usage:
            charges[self.find_key(charge)].append(charge)
        return charges

    def _explain_usage(
        self, number: int, line: UsageLine, usage: ExactUsage, charges: Sequence[UsageCharge]
    ) -> ExplainedAmount:
        return self._build(
            f"usage-{number}",
            "usage",
            line.why,
            label=line.name,
            customer_id=line.customer_id or None,
            customer_name=line.customer_name or None,
            tag=line.tag if self.is_by_tag else None,
            service=line.service,
            charge=line.charge,
            amount=line.after,
            base=usage.charge,
            discount_rate=self.terms.discount_rate,
            unrounded=self.builder.to_invoice_currency(usage.after),
            parts=[self._build_usage_part(charge) for charge in charges],
        )

    def _build_usage_part(self, charge: UsageCharge) -> ExplainedPart:
        return _build_part(
            "usage",
            None,
            charge.service,
            charge.amount,
            self.document.cost_currency,
            customer_id=charge.customer_id,
            customer_name=charge.customer_name,
            service=charge.service,
        )

    # ── fees ─────────────────────────────────────────────────────────────────────────────────────

    def _explain_fee(self, kind: AmountKind, fee: Fee, exact: ExactFee) -> ExplainedAmount:
        has_base = exact.base is not None
        parts = self._list_support_parts if kind == "support" else self._list_agency_parts
        return self._build(
            kind,
            kind,
            fee.why,
            label=kind,
            charge=fee.charge,
            amount=fee.after,
            base=exact.base,
            discount_rate=self.terms.discount_rate if exact.discounted else None,
            unrounded=self.builder.to_invoice_currency(exact.after),
            parts=list(parts()) if has_base else [],
        )

    def _list_support_parts(self) -> Iterator[ExplainedPart]:
        yield from self._list_line_parts(
            select_support_lines(self.usage, self.terms), self.terms.support_basis
        )
        for number, entry in enumerate(sort_entries(self.document.charges.entries), start=1):
            if counts_for_support(entry, self.terms):
                cost = entry.convert(self.document.cost_currency, self.terms.exchange_rate)
                yield self._build_cost_part("entry", f"entry-{number}", entry.description, cost)

    def _list_agency_parts(self) -> Iterator[ExplainedPart]:
        yield from self._list_line_parts(self.usage, self.terms.substitution_basis)
        assert self.support is not None, "without a support fee there is no agency fee"
        support = find_support_in_agency_base(self.support, self.terms)
        if support is not None:
            yield self._build_cost_part("support", "support", "support", support)

    def _list_line_parts(
        self, lines: Sequence[ExactUsage], fee_basis: str
    ) -> Iterator[ExplainedPart]:
        numbers = {id(line): number for number, line in enumerate(self.usage, start=1)}
        for line in lines:
            yield self._build_cost_part(
                "usage",
                f"usage-{numbers[id(line)]}",
                self.sheet.lines[numbers[id(line)] - 1].name,
                line.after if fee_basis == "discounted" else line.charge,
                customer_id=line.customer_id or None,
                customer_name=line.customer_name or None,
                service=line.service,
            )

    def _build_cost_part(
        self, kind: PartKind, line: str, label: str, amount: ExactAmount, **owner: str | None
    ) -> ExplainedPart:
        currency = self.document.cost_currency
        return _build_part(kind, line, label, expand_amount(amount), currency, **owner)

    # ── entries, items, totals ───────────────────────────────────────────────────────────────────

    def _explain_entry(self, number: int, line: EntryLine, entry: AppliedEntry) -> ExplainedAmount:
        if line.tax_free:
            self.printed.tax_free_lines.add(f"entry-{number}")
        part = _build_part(
            "entry",
            None,
            line.description,
            line.original,
            line.original_currency,
            customer_id=line.customer_id,
            customer_name=line.customer_name,
        )
        return self._build(
            f"entry-{number}",
            "entry",
            line.why,
            label=line.description,
            customer_id=line.customer_id,
            customer_name=line.customer_name,
            amount=line.amount,
            base=to_exact(line.original),
            exchange_rate=line.exchange_rate,
            unrounded=entry.convert(self.terms.currency, self.terms.exchange_rate),
            parts=[part],
        )

    def _explain_item(self, number: int, line: ItemLine, base: Decimal) -> ExplainedAmount:
        part = _build_part("item", None, line.label, base, self.terms.currency)
        return self._build(
            f"item-{number}",
            "item",
            line.why,
            label=line.label,
            amount=line.total,
            base=to_exact(base),
            exchange_rate=None,
            unrounded=to_exact(base),
            parts=[part],
        )

    def _explain_totals(self) -> Iterator[ExplainedAmount]:
        sheet, printed = self.sheet, self.printed
        taxable = [part for part in printed.parts if part.line not in printed.tax_free_lines]
        tax = to_exact(sheet.taxable) * to_exact(sheet.tax_rate)
        sums = [
            _build_part("line", name, name, amount, self.terms.currency)
            for name, amount in (("pre_tax", sheet.pre_tax), ("tax", sheet.tax))
        ]
        yield self._build_total("pre_tax", sheet.pre_tax_why, sheet.pre_tax, printed.parts)
        yield self._build_total(
            "tax", sheet.tax_why, sheet.tax, taxable, base=sheet.taxable, unrounded=tax
        )
        yield self._build_total("total", sheet.total_why, sheet.total, sums)

    def _build_total(
        self,
        kind: AmountKind,
        why: Explanation | None,
        amount: Decimal,
        parts: Sequence[ExplainedPart],
        *,
        base: Decimal | None = None,
        unrounded: ExactAmount | None = None,
    ) -> ExplainedAmount:
        return self._build(
            kind,
            kind,
            why or Explanation(rule=kind, base_currency=self.terms.currency),
            label=kind,
            amount=amount,
            base=to_exact(amount if base is None else base),
            exchange_rate=None,
            unrounded=unrounded or to_exact(amount),
            parts=list(parts),
        )

    def _build(
        self,
        line: str,
        kind: AmountKind,
        why: Explanation,
        *,
        amount: Decimal,
        base: ExactAmount | None,
        unrounded: ExactAmount,
        parts: list[ExplainedPart],
        **fields: Any,
    ) -> ExplainedAmount:
        optional = ("customer_id", "customer_name", "tag", "service", "charge", "discount_rate")
        is_converted = self.document.currency is not self.document.cost_currency
        defaults: dict[str, Any] = dict.fromkeys(optional)
        defaults["exchange_rate"] = self.terms.exchange_rate if is_converted else None
        exact_base = None if base is None else expand_amount(base)
        return ExplainedAmount(
            line=line,
            kind=kind,
            rule=why.rule,
            rule_text=RULES[why.rule],
            amount=amount,
            base=exact_base,
            base_currency=why.base_currency,
            unrounded=expand_amount(unrounded),
            working=why.working,
            sources=list(why.sources),
            by_day=False,
            parts=_add_remainder(parts, exact_base, why.base_currency),
            **defaults | fields,
        )


def _add_remainder(
    parts: list[ExplainedPart], base: Decimal | None, currency: Currency | None
) -> list[ExplainedPart]:
    """A negative base counts as zero, and a quotient is cut off: the rest is a part of its own."""
    if base is None or currency is None:
        return parts
    remainder = subtract_decimals(base, sum_decimals(part.amount for part in parts))
    if not remainder:
        return parts
    return [*parts, _build_part("remainder", None, "remainder", remainder, currency)]


def _build_part(
    kind: PartKind,
    line: str | None,
    label: str,
    amount: Decimal,
    currency: Currency,
    *,
    customer_id: str | None = None,
    customer_name: str | None = None,
    service: str | None = None,
) -> ExplainedPart:
    return ExplainedPart(
        kind=kind,
        line=line,
        label=label,
        customer_id=customer_id,
        customer_name=customer_name,
        service=service,
        day=None,
        amount=strip_zeros(amount),
        currency=currency,
    )
