"""A route that does not declare its gate keeps the process from starting.

In this process every route there is loses each of its facts in turn. In real processes a copy of
the sources gets one more route that lacks a fact, and `nimbill serve` is run on it.
"""

from __future__ import annotations

import shutil
from typing import Any

from litestar import Litestar

from nimbill.access.gate import own_routes, refuse_undeclared_routes
from nimbill.legacy.roles.guard import refuse_unscoped_routes
from tests.proof.real_server import ROOT, environment_for, try_to_serve
from tests.proof.row import Measurement
from tests.proof.stage import Stage

TARGET = "every route × every fact it must declare: refused; real processes exit with an error"
QUICK = 1  # real processes; each takes some seconds
FULL = 5
SECONDS_MAX = 600

OF_EVERY_ROUTE = ("audiences", "role_actions", "basis")
OF_VERSION_3 = ("needs", "master_alone")  # one of the two, where users call
CHANGING = {"POST", "PUT", "PATCH", "DELETE"}

# of a portal route that changes something: the most a route has to declare
FACTS = {
    "audited": 'audited=Unaudited("proof")',
    "audiences": "audiences=[Audience.portal]",
    "role_actions": "role_actions=[]",
    "basis": "basis=_BASIS",
    "flag": 'flag="dashboard_graph"',
}

ONE_MORE_ROUTE = '''
from nimbill.access.gate import Audience, Unaudited
from nimbill.http.routing import post


@post("/m/portal/one-more", {facts})
async def one_more() -> dict[str, str]:
    """Lacks a fact."""
    return {{}}


ROUTES.append(one_more)
'''


def measure(stage: Stage, size: int) -> Measurement:
    tried, misses = _in_this_process(stage.service.app)
    for fact in list(FACTS)[:size]:
        misses += _in_a_process(stage, fact)
    said = f"{tried} routes and facts in this process, {min(size, len(FACTS))} real processes"
    return Measurement(f"{said}: {len(misses)} accepted", misses)


def _in_this_process(app: Litestar) -> tuple[int, list[str]]:
    """Each fact of each route is taken away, refused, and put back."""
    tried, misses = 0, []
    for path, handler in own_routes(app):
        facts = [*OF_EVERY_ROUTE, *(["audited"] if handler.http_methods & CHANGING else [])]
        facts += [fact for fact in OF_VERSION_3 if fact in handler.opt]
        for fact in facts:
            tried += 1
            kept = handler.opt.pop(fact)
            try:
                if not _refused(app, path, fact):
                    misses.append(f"accepted in this process: {path} without {fact}")
            finally:
                handler.opt[fact] = kept
    _refuse(app)
    return tried, misses


def _refuse(app: Litestar) -> None:
    refuse_undeclared_routes(app)
    refuse_unscoped_routes(app)


def _refused(app: Any, path: str, fact: str) -> bool:
    try:
        _refuse(app)
    except RuntimeError as refusal:
        return path in str(refusal) and fact in str(refusal)
    return False


def _in_a_process(stage: Stage, fact: str) -> list[str]:
    sources = stage.new_folder("a1") / "src"
    shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
    facts = ", ".join(text for name, text in FACTS.items() if name != fact)
    with (sources / "nimbill" / "service_routes.py").open("a") as routes:
        routes.write(ONE_MORE_ROUTE.format(facts=facts))
    shared = {
        "NIMBILL_KEY_FILE": str(stage.service.settings.key_file),
        "NIMBILL_DATABASE_URL": stage.postgres.url,
    }
    env = environment_for(stage.new_folder("a1-data"), shared) | {"PYTHONPATH": str(sources)}
    tried = try_to_serve(env)
    expected = f"/m/portal/one-more does not declare {fact}"
    if tried.answered or tried.code == 0:
        return [f"started without {fact}: exit code {tried.code}, answered: {tried.answered}"]
    return [] if expected in tried.said else [f"did not say “{expected}”: {tried.said[-800:]}"]
