"""The functions that the application gives to lower packages: none may be forgotten."""

from dataclasses import FrozenInstanceError, fields

import pytest

from nimbill.access.hooks import Hooks
from tests.running_service import Service

NAMES = [field.name for field in fields(Hooks)]


@pytest.mark.parametrize("name", NAMES)
def test_a_forgotten_hook_is_an_error_when_a_worker_starts(service: Service, name: str) -> None:
    hooks = service.resources.hooks
    others = {each: getattr(hooks, each) for each in NAMES if each != name}

    with pytest.raises(TypeError, match=f"missing 1 required keyword-only argument: '{name}'"):
        Hooks(**others)


def test_hooks_do_not_change_while_a_worker_runs(service: Service) -> None:
    hooks = service.resources.hooks

    with pytest.raises(FrozenInstanceError):
        hooks.requires_second_factor = hooks.requires_second_factor  # type: ignore[misc]
