"""Checks that the values of a module cannot change and are given by name."""

from __future__ import annotations

from types import ModuleType

import msgspec
import pytest


def list_structs(module: ModuleType) -> list[type[msgspec.Struct]]:
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, msgspec.Struct)
        and each.__module__ == module.__name__
    ]


def assert_frozen_and_by_name(module: ModuleType) -> None:
    structs = list_structs(module)
    assert structs
    for each in structs:
        assert each.__struct_config__.frozen, each
        with pytest.raises(TypeError, match="positional"):
            each(None)
