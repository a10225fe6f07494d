"""The values of a calculation cannot be changed, and are created with the names of their fields."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType

import msgspec
import pytest

from nimbill.invoicing.calculation import charges, lines, sheet, terms


def list_values(module: ModuleType) -> Iterator[type[msgspec.Struct]]:
    for _, value in inspect.getmembers(module, inspect.isclass):
        if issubclass(value, msgspec.Struct) and value.__module__ == module.__name__:
            yield value


VALUES = [value for module in (charges, lines, sheet, terms) for value in list_values(module)]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_frozen(value: type[msgspec.Struct]) -> None:
    """Otherwise one invoice could change the terms or the costs of another."""
    assert value.__struct_config__.frozen


@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_created_with_names(value: type[msgspec.Struct]) -> None:
    """Several amounts of the same type would be exchanged without notice."""
    parameters = inspect.signature(value).parameters.values()
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}


def test_amounts_written_for_invoices_leave_out_what_they_do_not_need() -> None:
    written = {value for value in VALUES if value.__struct_config__.omit_defaults}

    assert written == {lines.UsageLine, charges.UsageCharge}
