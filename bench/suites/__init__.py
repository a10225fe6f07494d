"""The suites: every file of this folder is one, found by its name."""

import importlib
import pkgutil

from bench.rounds import Suite


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def suite_named(name: str) -> Suite:
    """The `SUITE` of the file of that name."""
    suite = importlib.import_module(f"{__name__}.{name}").SUITE
    assert isinstance(suite, Suite)
    return suite
