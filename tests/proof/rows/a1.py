"""A route without a complete access declaration keeps the process from starting.

In this process, each declaration of each route is removed in turn. In real processes, the sources
get a further route that lacks a declaration, and `nimbill serve` must not start.
"""

from __future__ import annotations

from typing import Any

from litestar import Litestar

from nimbill.access.gate import iterate_routes, refuse_undeclared_routes
from nimbill.legacy.roles.guard import refuse_routes_without_scope  # version 3
from tests.fault_injection.replacements import environment_with, read_source
from tests.proof.broken_variants import BrokenVariant
from tests.proof.real_server import environment_for, try_to_serve
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = "every route × every required declaration: refused; real processes exit with an error"
QUICK = 1  # real processes; each takes some seconds
FULL = 5
SECONDS_MAX = 600

REQUIRED_OF_EVERY_ROUTE = ("audiences", "role_actions", "basis")
REQUIRED_OF_VERSION_3 = (  # version 3
    "requires",
    "master_account_only",
)  # one of the two, for routes that users call
CHANGING = {"POST", "PUT", "PATCH", "DELETE"}

# declarations of a mutating portal route, which has to declare the most
DECLARATIONS = {
    "audited": 'audited=Unaudited("proof")',
    "audiences": "audiences=[Audience.portal]",
    "role_actions": "role_actions=[]",
    "basis": "basis=_BASIS",
    "flag": 'flag="dashboard_graph"',
}

ROUTES_FILE = "application/service_routes.py"
UNDECLARED_ROUTE = '''
from nimbill.access.gate import Audience, Unaudited
from nimbill.http.routing import post


@post("/m/portal/undeclared", {declarations})
async def undeclared() -> dict[str, str]:
    """Lacks a declaration."""
    return {{}}


ROUTES.append(undeclared)
'''


def measure(environment: RowEnvironment, size: int) -> Measurement:
    tried, misses = _check_this_process(environment.service.app)
    for declaration in list(DECLARATIONS)[:size]:
        misses += _check_real_process(environment, declaration)
    processes = min(size, len(DECLARATIONS))
    figures = f"{tried} routes and declarations in this process, {processes} real processes"
    return Measurement(f"{figures}: {len(misses)} accepted", misses)


def _check_this_process(app: Litestar) -> tuple[int, list[str]]:
    """Remove each declaration of each route, check that it is refused, and restore it."""
    tried, misses = 0, []
    for path, handler in iterate_routes(app):
        declarations = [
            *REQUIRED_OF_EVERY_ROUTE,
            *(["audited"] if handler.http_methods & CHANGING else []),
        ]
        declarations += [  # version 3
            declaration for declaration in REQUIRED_OF_VERSION_3 if declaration in handler.opt
        ]
        for declaration in declarations:
            tried += 1
            removed = handler.opt.pop(declaration)
            try:
                if not _is_refused(app, path, declaration):
                    misses.append(f"accepted in this process: {path} without {declaration}")
            finally:
                handler.opt[declaration] = removed
    _check_declarations(app)
    return tried, misses


def _check_declarations(app: Litestar) -> None:
    refuse_undeclared_routes(app)
    refuse_routes_without_scope(app)  # version 3


def _is_refused(app: Any, path: str, declaration: str) -> bool:
    try:
        _check_declarations(app)
    except RuntimeError as refusal:
        return path in str(refusal) and declaration in str(refusal)
    return False


def _check_real_process(environment: RowEnvironment, declaration: str) -> list[str]:
    declarations = ", ".join(text for name, text in DECLARATIONS.items() if name != declaration)
    routes = read_source(ROUTES_FILE)
    undeclared = (ROUTES_FILE, routes, routes + UNDECLARED_ROUTE.format(declarations=declarations))
    shared = {
        "NIMBILL_KEY_FILE": str(environment.service.settings.key_file),
        "NIMBILL_DATABASE_URL": environment.postgres.url,
    }
    env = environment_for(environment.new_folder("a1-data"), shared)
    tried = try_to_serve(env | environment_with([undeclared], environment.new_folder("a1")))
    expected = f"/m/portal/undeclared does not declare {declaration}"
    if tried.answered or tried.code == 0:
        return [
            f"started without {declaration}: exit code {tried.code}, answered: {tried.answered}"
        ]
    return (
        [] if expected in tried.output else [f"did not print “{expected}”: {tried.output[-800:]}"]
    )


VARIANTS = [
    BrokenVariant(
        "facts-optional",
        "A route may omit its basis, and a change may omit what it audits.",
        "accepted in this process",
        "access/gate.py",
        'REQUIRED_DECLARATIONS = ("audiences", "role_actions", "basis")',
        'REQUIRED_DECLARATIONS = ("audiences", "role_actions")',
        also=[
            (
                "access/gate.py",
                "handler.http_methods & MUTATING and",
                "handler.http_methods == MUTATING and",
            )
        ],
    ),
    BrokenVariant(
        "routes-not-checked",
        "The start-up check of the routes is not called.",
        "started without audited",
        "application/app.py",
        "refuse_undeclared_routes(app)",
        "",
    ),
]
