"""Reads the worked examples: TOML files that an accountant can write."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding
from nimbill.invoicing.calculation.charges import AppliedEntry, FreeItem, MonthlyCharges
from nimbill.invoicing.calculation.sheet import Fee, InvoiceSheet
from tests.invoicing.invoice_builders import build_charge, build_entry
from tests.invoicing.random_invoices import InvoiceCase

FOLDER = Path(__file__).parent / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.toml"))


@dataclass(frozen=True, slots=True)
class WorkedExample:
    case: InvoiceCase
    printed: dict[str, Any]


def load_example(name: str) -> WorkedExample:
    said = _load_toml(name)
    return WorkedExample(
        InvoiceCase(
            charges=MonthlyCharges(
                cost_currency=Currency(said["cost_currency"]),
                usage=tuple(build_charge(**charge) for charge in said["usage"]),
                entries=tuple(_build_entry(**entry) for entry in said.get("entries", [])),
                items=tuple(_build_item(**item) for item in said.get("items", [])),
            ),
            settings=({field: _to_decimal(value) for field, value in said["setting"].items()},),
            exchange_rate=Decimal(said["exchange_rate"]),
            rounding=Rounding(said["rounding"]),
            usage_table=tuple(
                (None if upto == "above" else Decimal(upto), Decimal(rate))
                for upto, rate in said.get("usage_table", [])
            ),
        ),
        said["printed"],
    )


def list_printed_amounts(sheet: InvoiceSheet) -> dict[str, Any]:
    """In the words of the examples; entries in the order of the page."""

    def fee(line: Fee | None) -> list[Decimal] | None:
        return [line.charge, line.after] if line else None

    return {
        "lines": [
            [line.tag or line.customer_id, line.service, line.charge, line.after]
            for line in sheet.lines
        ],
        "support": fee(sheet.support),
        "agency": fee(sheet.agency),
        "entries": [[entry.entry_id, entry.amount] for entry in sheet.entries],
        "items": [item.total for item in sheet.items],
        "tax_free": sheet.tax_free,
        "pre_tax": sheet.pre_tax,
        "tax": sheet.tax,
        "total": sheet.total,
        "pre_tax_usd": sheet.pre_tax_usd,
        "accounts": [
            [account.customer_id, account.total, account.total_exchanged]
            for account in sheet.accounts
        ],
    }


def _load_toml(name: str) -> dict[str, Any]:
    """`like` begins with another example; a setting then says only what differs."""
    said = tomllib.loads((FOLDER / f"{name}.toml").read_text(), parse_float=Decimal)
    if "like" not in said:
        return said
    other = _load_toml(said["like"])
    return other | said | {"setting": other["setting"] | said["setting"]}


def _to_decimal(value: Any) -> Any:
    return Decimal(value) if isinstance(value, int) else value


def _build_entry(*, id: str, kind: str, **said: Any) -> AppliedEntry:  # noqa: A002 - their word
    currency = Currency(said.pop("currency"))
    return build_entry(entry_id=id, calc_type=kind, currency=currency, **said)


def _build_item(
    *, enabled: bool, label: str, unit_cost: Decimal, quantity: Decimal, total: Decimal
) -> FreeItem:
    return FreeItem(
        enabled=enabled,
        label=label,
        unit_cost=Decimal(unit_cost),
        quantity=Decimal(quantity),
        total=Decimal(total),
    )
