"""Version 3 of the API as an extension of the application.

To remove version 3:

1. Delete these files and folders:

       src/nimbill/legacy
       src/nimbill/application/legacy_wiring.py
       src/nimbill/application/legacy_agent_role.py
       src/nimbill/commands/agent.py
       src/nimbill/customers/organisation_settings/agent_role_rules.py
       src/nimbill/demo/stack_steps.py
       tests/application/test_without_legacy.py
       tests/legacy
       tests/proof/killed_operations/moving_stacks.py
       tests/proof/leaky_stacks.py
       tests/proof/legacy_escalation.py
       tests/proof/random_scopes.py
       tests/proof/rows/a4.py
       docs/migrating-from-v3.md
       docs/specification/legacy.md
       docs/stacks-and-agents.md

2. Delete every line that ends with `# version 3`, together with the lines that are indented below
   it and the bracket that closes it: a mark at `def` removes the function.
3. Run `make lock`, `make routes` and `make web-types`, then `make check` and `make test`, which
   name the links, sections and texts of docs/ and web/ that are left over.

`tests/application/test_without_legacy.py` does 1 and 2 in a copy of the project, checks what is
left and starts it.

Routes and jobs are imported when a server asks for them, because each command imports this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.tokens import SUBJECT_TYPES, TokenIssuer
from nimbill.application.extension import Extension
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.product import Product
from nimbill.foundation.settings import Settings
from nimbill.jobs.runner import JobType
from nimbill.legacy.deprecation import VERSION_3
from nimbill.legacy.login.agent_caller import load_agent_caller
from nimbill.legacy.migrations import LEGACY_MIGRATIONS
from nimbill.legacy.response_links import RESPONSE_LINKS
from nimbill.legacy.roles.legacy_rights import LegacyRights
from nimbill.legacy.settings import SETTING_NAMES, read_legacy_settings
from nimbill.legacy.stacks.records import has_existing_stacks
from nimbill.legacy.token_product import AGENT, LEGACY

if TYPE_CHECKING:
    from litestar import Litestar
    from litestar.types import ControllerRouterHandler


def _issuers(settings: Settings) -> Mapping[Product, TokenIssuer]:
    own = read_legacy_settings(settings)
    address = f"{own.url}{VERSION_3.prefix}"
    return {LEGACY: TokenIssuer(address, own.token_seconds, (*SUBJECT_TYPES, AGENT))}


def _route_handlers() -> Sequence[ControllerRouterHandler]:
    from litestar import Router
    from litestar.di import Provide

    from nimbill.application.legacy_agent_role import provide_agent_role
    from nimbill.legacy import routes as legacy_routes
    from nimbill.legacy.deployments import routes as deployment_routes
    from nimbill.legacy.login import routes as login_routes
    from nimbill.legacy.roles import guard

    return [
        *login_routes.ROUTES,
        Router(
            VERSION_3.prefix,
            route_handlers=legacy_routes.ROUTES,
            guards=[guard.check_scope],
            dependencies=guard.DEPENDENCIES | {"agent_role": Provide(provide_agent_role)},
            tags=["Legacy"],
        ),
        Router("/m/core", route_handlers=deployment_routes.ROUTES),
    ]


def _check_routes(app: Litestar) -> None:
    from nimbill.legacy.roles.guard import refuse_routes_without_scope

    refuse_routes_without_scope(app)


def _tables() -> Sequence[sa.Table]:
    from nimbill.legacy.agent import records as agent
    from nimbill.legacy.containers import records as containers
    from nimbill.legacy.roles import records as roles
    from nimbill.legacy.stacks import records as stacks

    return [
        agent.legacy_agents,
        containers.legacy_containers,
        roles.legacy_roles,
        roles.legacy_user_roles,
        stacks.legacy_instances,
        stacks.legacy_layers,
        stacks.legacy_stacks,
        stacks.legacy_template_versions,
    ]


def _job_types(settings: Settings, engine: AsyncEngine, encryptor: Encryptor) -> Sequence[JobType]:
    from nimbill.legacy.provisioning.job_types import stack_job_types

    return stack_job_types(read_legacy_settings(settings), engine, encryptor)


async def _find_deletion_obstacle(db: AsyncConnection, scope: TenantScope) -> str | None:
    if await has_existing_stacks(db, scope):
        return "The organisation still has stacks, whose instances would run on. Delete them first."
    return None


LEGACY_EXTENSION = Extension(
    products=[LEGACY],
    setting_names=SETTING_NAMES | {"NIMBILL_AGENT_TOKEN"},  # of `nimbill agent`
    issuers=_issuers,
    caller_loaders={AGENT: load_agent_caller},
    rights=LegacyRights(),
    route_handlers=_route_handlers,
    check_routes=_check_routes,
    job_types=_job_types,
    deprecations=[VERSION_3],
    links=RESPONSE_LINKS,
    tables=_tables,
    migrations=[LEGACY_MIGRATIONS],
    find_deletion_obstacle=_find_deletion_obstacle,
)
