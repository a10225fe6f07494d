"""Marks that say whether the specification states a fact or we chose it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Basis:
    kind: Literal["stated", "chosen"]
    where: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}"


def stated(heading: str) -> Basis:
    """The specification states the fact, under this heading of docs/specification."""
    return Basis("stated", heading)


def chosen(choice: str) -> Basis:
    """The specification leaves the fact open; docs/choices.md has a heading of this name."""
    return Basis("chosen", choice)
