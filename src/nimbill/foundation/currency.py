"""The currencies of invoices and projects."""

from collections.abc import Mapping
from enum import StrEnum


class Currency(StrEnum):
    jpy = "jpy"
    usd = "usd"


# currencies in which costs can be invoiced, by the code that vendors use
CURRENCIES: Mapping[str, Currency] = {"USD": Currency.usd, "JPY": Currency.jpy}
