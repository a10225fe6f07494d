"""Inputs and results of the calculation never change, and their fields are given by name."""

from __future__ import annotations

from types import ModuleType

import pytest

from nimbill.invoicing.calculation import charges, lines, sheet, terms
from tests.struct_rules import assert_frozen_and_by_name, list_structs

MODULES = [each for each in (charges, lines, sheet, terms) if list_structs(each)]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_values_are_frozen_and_given_by_name(module: ModuleType) -> None:
    assert_frozen_and_by_name(module)
