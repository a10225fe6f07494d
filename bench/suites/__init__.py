"""The benchmark suites: every module of this package defines one as `SUITE`."""

import importlib
import pkgutil

from bench.rounds import Suite


def list_suites() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_suite(name: str) -> Suite:
    suite = importlib.import_module(f"{__name__}.{name}").SUITE
    assert isinstance(suite, Suite)
    return suite
