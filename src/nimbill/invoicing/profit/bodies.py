"""Bodies of the projects per month."""

from decimal import Decimal
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.vocabulary import Currency
from nimbill.http.request_bodies import Body


class ProjectFigures(Body, frozen=True, kw_only=True):
    """In USD, and `exchanged` in the project's currency; a rate is profit for one of sales."""

    basis: ClassVar[Basis] = chosen("project-months")

    stock: Decimal
    sales: Decimal
    profit: Decimal
    profit_rate: Decimal | None
    stock_exchanged: Decimal
    sales_exchanged: Decimal
    profit_exchanged: Decimal
    profit_exchanged_rate: Decimal | None


class ProjectAmount(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("project-months")

    aws: ProjectFigures
    azure: ProjectFigures
    total: ProjectFigures


class ProjectOfMonth(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("project-months")

    project_id: str
    project_code: str
    project_label: str
    project_currency: Currency
    amount: ProjectAmount
