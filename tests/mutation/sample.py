"""Chooses the mutants of a run by a seed, so that a change of the code changes few of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from itertools import islice

from tests.fault_injection.replacements import ROOT
from tests.mutation.areas import AREAS, Area
from tests.mutation.mutants import Mutant, list_mutants


def choose_mutants(sample: int, seed: int) -> list[tuple[Area, Mutant]]:
    """The same number from each area, as far as it has so many."""
    chosen: list[tuple[Area, Mutant]] = []
    for number, area in enumerate(sorted(AREAS, key=lambda area: len(_all_mutants(area)))):
        share = (sample - len(chosen)) // (len(AREAS) - number)
        compiling = (each for each in in_random_order(_all_mutants(area), seed) if each.compiles())
        chosen += [(area, mutant) for mutant in islice(compiling, share)]
    return chosen


def in_random_order(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """Ordered by a hash of the mutant alone, so that new code adds mutants without a new draw."""
    numbers = dict(_number_equals(mutants))
    return sorted(numbers, key=lambda each: _hash(f"{seed} {each.key} {numbers[each]}"))


def _number_equals(mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, int]]:
    seen: Counter[tuple[str, str, str]] = Counter()
    for mutant in mutants:
        seen[mutant.key] += 1
        yield mutant, seen[mutant.key]


def _hash(text: str) -> bytes:
    return sha256(text.encode()).digest()


@cache
def _all_mutants(area: Area) -> list[Mutant]:
    return [mutant for file in area.list_files(ROOT) for mutant in list_mutants(ROOT, file)]
