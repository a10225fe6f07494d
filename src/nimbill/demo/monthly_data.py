"""The months of the demo and the data that differs by month.

The months are fixed, so that every demo shows the same amounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from nimbill.foundation.vendors import BilledVendor

MONTHS_MIN = 3  # a closed month, an open month and the current month

# Yen per dollar.
EXCHANGE_RATES: Mapping[str, Decimal] = {
    "2025-10": Decimal("151.30"),
    "2025-11": Decimal("154.85"),
    "2025-12": Decimal("156.10"),
    "2026-01": Decimal("155.72"),
    "2026-02": Decimal("152.94"),
    "2026-03": Decimal("149.88"),
    "2026-04": Decimal("147.55"),
    "2026-05": Decimal("148.20"),
    "2026-06": Decimal("149.07"),
    "2026-07": Decimal("150.63"),
    "2026-08": Decimal("151.18"),
    "2026-09": Decimal("150.25"),
    "2026-10": Decimal("149.90"),  # expected; the vendors have not invoiced the month
}
MONTHS = tuple(EXCHANGE_RATES)
MONTHS_MAX = len(MONTHS)
*CLOSED_MONTHS, OPEN_MONTH, CURRENT_MONTH = MONTHS
LAST_CLOSED_MONTH = CLOSED_MONTHS[-1]
CURRENT_MONTH_DAYS = 24  # its costs end there
UNASSIGNED_ACCOUNTS_SINCE = OPEN_MONTH


# Days on which the customer with all pages of the portal used far more compute than usual.
COMPUTE_PEAKS: Mapping[str, int] = {LAST_CLOSED_MONTH: 19, OPEN_MONTH: 22, CURRENT_MONTH: 8}


@dataclass(frozen=True, slots=True)
class OneOffCharge:
    """A one-off line of the vendor, which becomes a recalculation entry."""

    month: str
    vendor: BilledVendor
    billinggroup_id: str
    kind: str  # name of a ChargeKind
    calc_type: str
    amount: Decimal
    applied_in: str | None  # month of the invoice; None leaves the entry undecided
    tax_free: bool
    exchange_rate: Decimal  # 0 uses the exchange rate of the invoice


def _one_off(
    billed_to: str,
    kinds: str,
    amount: str,
    applied_in: str | None,
    *,
    tax_free: bool = False,
    rate: str = "0",
) -> OneOffCharge:
    month, vendor, group = billed_to.split()
    kind, calc_type = kinds.split()
    return OneOffCharge(
        month=month,
        vendor=vendor,
        billinggroup_id=group,
        kind=kind,
        calc_type=calc_type,
        amount=Decimal(amount),
        applied_in=applied_in,
        tax_free=tax_free,
        exchange_rate=Decimal(rate),
    )


# fmt: off
ONE_OFF_CHARGES = (
    _one_off("2025-11 aws BG-0001",   "fee Fee",             "72.00",    "2025-11"),
    _one_off("2025-12 aws BG-0010",   "credit Credit",       "-500.00",  "2025-12"),
    _one_off("2026-01 aws BG-0005",   "refund Refund",       "-1240.55", "2026-02", rate="155.72"),
    _one_off("2026-03 aws BG-0038",   "credit Credit",       "-3000.00", "2026-03"),
    _one_off("2026-04 azure BG-0030", "reservation_fee Fee", "384000",   "2026-04"),
    _one_off("2026-06 azure BG-0009", "refund Refund",       "-18200",   "2026-06"),
    _one_off("2026-08 aws BG-0013",   "credit Credit",       "-2000.00", "2026-08"),
    _one_off("2026-09 aws BG-0001",   "fee Fee",             "18.00",    "2026-09"),
    _one_off("2026-09 aws BG-0003",   "credit Credit",       "-120.00",  "2026-09", tax_free=True),
    _one_off("2026-09 aws BG-0012",   "refund Refund",       "-42.10",   "2026-09"),
    _one_off("2026-09 azure BG-0004", "refund Refund",       "-9600",    "2026-09"),
    _one_off("2026-09 aws BG-0020",   "fee Fee",             "30.00",    None),
    _one_off("2026-09 azure BG-0037", "fee Fee",             "55000",    None),
    _one_off("2026-10 aws BG-0026",   "credit Credit",       "-250.00",  None),
)
# fmt: on


@dataclass(frozen=True, slots=True)
class DemoInstanceMove:
    """Some of the four reserved instances of the owner are billed to another customer."""

    owner: str
    receiver: str
    number: int


RESERVED_INSTANCE_MOVES = (
    DemoInstanceMove("BG-0005", "BG-0026", 2),
    DemoInstanceMove("BG-0001", "BG-0004", 1),
)

# Monthly charges by billing group, in dollars; Azure Marketplace in yen.
RESERVATION_FEES = {"BG-0001": 222, "BG-0005": 9_400, "BG-0013": 1_880, "BG-0040": 2_650}
SAVINGS_PLAN_FEES = {"BG-0002": 14_600, "BG-0010": 3_100, "BG-0017": 2_200, "BG-0027": 4_800}
AWS_MARKETPLACE_CHARGES = {"BG-0003": 640, "BG-0012": 310, "BG-0033": 1_450, "BG-0038": 2_300}
AZURE_MARKETPLACE_CHARGES = {"BG-0031": 88_000, "BG-0040": 64_000}
VENDOR_DISCOUNT_PERCENT = {"BG-0002": 3, "BG-0005": 4}

# Free-format invoice items in the currency of the invoice: label, price, quantity, enabled.
FREE_FORMAT_ITEMS: Mapping[tuple[str, BilledVendor], tuple[tuple[str, str, str, bool], ...]] = {
    ("BG-0001", "aws"): (("月次レポート作成", "15000", "1", True),),
    ("BG-0003", "aws"): (("タグ設計支援", "80000", "1.5", True), ("研修", "50000", "1", False)),
    ("BG-0012", "aws"): (("Monthly cost review", "250.00", "1", True),),
    ("BG-0013", "aws"): (("運用代行", "3000", "24", True), ("値引き", "-12000", "1", True)),
    ("BG-0037", "azure"): (("仕様書対応", "120000", "1", True),),
}
# Terms and memo that apply to one month only.
MONTHLY_OVERRIDES: Mapping[tuple[str, str, BilledVendor], tuple[Mapping[str, str], str]] = {
    (OPEN_MONTH, "BG-0016", "aws"): (
        {"discount_calc_logic": "allamount", "support_amount_target": "cloudpayonlywithfee"},
        "9月分は特別条件でのご請求です。",
    ),
    (OPEN_MONTH, "BG-0036", "aws"): (
        {"discount_rate": "0.10"},
        "Includes the autumn campaign discount.",
    ),
}

# Of the last closed month; the invoices before it are paid.
UNPAID = frozenset({"BG-0029", "BG-0037"})
PARTLY_PAID: Mapping[str, Decimal] = {"BG-0022": Decimal("0.5")}  # share by billing group
PAYS_ON_RECEIPT = "BG-0029"  # it is overdue on the day after the demo was created


def last_months(count: int) -> tuple[str, ...]:
    return MONTHS[-count:]


def vendor_invoice_number(vendor: str, month: str) -> str:
    return f"{month[:4]}{month[5:]}0117" if vendor == "aws" else f"E04{month[2:4]}{month[5:]}A7"
