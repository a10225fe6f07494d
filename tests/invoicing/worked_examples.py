"""Loads the worked examples: TOML files that an accountant can write."""

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
    data = read_inputs(name)
    return WorkedExample(
        InvoiceCase(
            charges=MonthlyCharges(
                cost_currency=Currency(data["cost_currency"]),
                usage=tuple(build_charge(**charge) for charge in data["usage"]),
                entries=tuple(_build_entry(**entry) for entry in data.get("entries", [])),
                items=tuple(_build_item(**item) for item in data.get("items", [])),
            ),
            settings=({field: _to_decimal(value) for field, value in data["setting"].items()},),
            exchange_rate=Decimal(data["exchange_rate"]),
            rounding=Rounding(data["rounding"]),
            usage_table=tuple(
                (None if upto == "above" else Decimal(upto), Decimal(rate))
                for upto, rate in data.get("usage_table", [])
            ),
        ),
        data["printed"],
    )


def list_printed_amounts(sheet: InvoiceSheet) -> dict[str, Any]:
    """List the amounts under the names used in the examples; entries in page order."""

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


def read_inputs(name: str) -> dict[str, Any]:
    """What a file contains; with `like`, it contains only what differs from another example."""
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text(), parse_float=Decimal)
    if "like" not in data:
        return data
    other = read_inputs(data["like"])
    return other | data | {"setting": other["setting"] | data["setting"]}


def _to_decimal(value: Any) -> Any:
    return Decimal(value) if isinstance(value, int) else value


def _build_entry(*, id: str, kind: str, **data: Any) -> AppliedEntry:  # noqa: A002  # as in the files
    currency = Currency(data.pop("currency"))
    return build_entry(entry_id=id, calc_type=kind, currency=currency, **data)


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
