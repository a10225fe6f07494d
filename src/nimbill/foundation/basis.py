"""Marks that say where a fact comes from: stated by the specification, or chosen by us."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Basis:
    kind: Literal["stated", "chosen"]
    where: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}"


def stated(heading: str) -> Basis:
    """The fact stands in the specification under this heading."""
    return Basis("stated", heading)


def chosen(choice: str) -> Basis:
    """The specification is silent; docs/choices.md has a heading of this name."""
    return Basis("chosen", choice)
