"""The currencies of invoices and projects."""

from enum import StrEnum


class Currency(StrEnum):
    jpy = "jpy"
    usd = "usd"
