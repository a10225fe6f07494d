"""Bodies of the project profit."""

from decimal import Decimal
from typing import ClassVar

import msgspec

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body


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
