"""Bodies of the profit of projects and customers."""

from decimal import Decimal
from typing import Annotated, ClassVar, Literal

import msgspec

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, Success, described


class ProjectFigures(Body, frozen=True, kw_only=True):
    """Amounts in USD, and `exchanged` amounts in the project's currency; rate = profit / sales."""

    basis: ClassVar[Basis] = chosen("project-months")

    stock: Decimal
    sales: Decimal
    profit: Decimal
    profit_rate: Decimal | None
    stock_exchanged: Decimal
    sales_exchanged: Decimal
    profit_exchanged: Decimal
    profit_exchanged_rate: Decimal | None


class ProjectAmount(Body, frozen=True, kw_only=True, omit_defaults=True):
    """`other_vendors` is left out if the organisation bills no others."""

    basis: ClassVar[Basis] = chosen("project-months")

    aws: ProjectFigures
    azure: ProjectFigures
    other_vendors: dict[BilledVendor, ProjectFigures] = msgspec.field(default_factory=dict)
    total: ProjectFigures


class ProjectProfit(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("project-months")

    project_id: str
    project_code: str
    project_label: str
    project_currency: Currency
    amount: ProjectAmount


class CustomerMonth(Body, frozen=True, kw_only=True):
    """The current invoice of a billing group for a month and vendor."""

    basis: ClassVar[Basis] = chosen("customer-history")

    month: str
    vendor: BilledVendor
    invoice_no: str
    revision: int
    state: Annotated[Literal["open", "closed"], described("whether the month is closed")]
    create_time: Annotated[str, described("when this revision was created")]
    currency: Annotated[Currency, described("of all amounts")]
    exchange_rate: Decimal
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    vendor_cost: Annotated[Decimal, described("what the vendor charged, without tax")]
    margin: Annotated[Decimal, described("pre_tax - vendor_cost")]
    margin_rate: Annotated[
        Decimal | None, described("margin / pre_tax, four decimals; null if pre_tax is 0")
    ]


class CustomerHistory(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("customer-history")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    months: Annotated[
        list[CustomerMonth], described("invoices, the newest month first, then by vendor")
    ]


class ExportData(Success, frozen=True, kw_only=True):
    """`data` is a link to the file."""

    basis: ClassVar[Basis] = chosen("project-months")

    data: str
