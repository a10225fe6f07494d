"""Rules for the values of fields; str(rule) is the text shown in `violations`."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, runtime_checkable


@runtime_checkable
class Rule(Protocol):
    def allows(self, value: object) -> bool: ...


@dataclass(frozen=True, slots=True)
class OneOf:
    values: tuple[str, ...]

    def allows(self, value: object) -> bool:
        return value in self.values

    def __str__(self) -> str:
        return f"one of {', '.join(self.values)}"


@dataclass(frozen=True, slots=True)
class Between:
    low: Decimal
    high: Decimal

    def allows(self, value: object) -> bool:
        return isinstance(value, int | Decimal) and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class PerVendor:
    """One rule per vendor; a vendor without a rule is refused."""

    rows: Mapping[str, Rule]

    def __getitem__(self, vendor: str) -> Rule:
        return self.rows[vendor]


def one_of(*words: str) -> OneOf:
    return OneOf(words)


def between(low: str, high: str) -> Between:
    """Inclusive bounds, given as text so that they stay exact."""
    return Between(Decimal(low), Decimal(high))


def per_vendor(**rows: Rule) -> PerVendor:
    return PerVendor(rows)
