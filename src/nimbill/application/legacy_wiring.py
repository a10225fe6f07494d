"""Version 3 of the API as an extension of the application.

To retire version 3, delete `nimbill/legacy`, this file, the command `nimbill agent`, the demo's
stack files, the rule of the setting `agent_role_arn`, and every line marked `# version 3`;
`tests/application/test_without_legacy.py` does the same in a copy of the project and starts what
is left.
"""

from collections.abc import Mapping, Sequence

from litestar import Router
from litestar.di import Provide
from litestar.types import ControllerRouterHandler
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.tokens import SUBJECT_TYPES, TokenIssuer
from nimbill.application.extension import Extension
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.product import Product
from nimbill.foundation.settings import Settings
from nimbill.http.routing import RequestCaller, Transaction
from nimbill.jobs.runner import JobType
from nimbill.legacy import routes as legacy_routes
from nimbill.legacy.audiences import AGENT, LEGACY
from nimbill.legacy.deployments import routes as deployment_routes
from nimbill.legacy.deprecation import VERSION_3
from nimbill.legacy.login import routes as login_routes
from nimbill.legacy.login.agent_caller import load_agent_caller
from nimbill.legacy.migrations import LEGACY_MIGRATIONS
from nimbill.legacy.provisioning.job_types import stack_job_types
from nimbill.legacy.response_links import RESPONSE_LINKS
from nimbill.legacy.roles import guard
from nimbill.legacy.roles.legacy_rights import LegacyRights
from nimbill.legacy.settings import SETTING_NAMES, read_legacy_settings
from nimbill.legacy.stacks.records import has_existing_stacks


def _issuers(settings: Settings) -> Mapping[Product, TokenIssuer]:
    own = read_legacy_settings(settings)
    address = f"{own.url}{VERSION_3.prefix}"
    return {LEGACY: TokenIssuer(address, own.token_seconds, (*SUBJECT_TYPES, AGENT))}


async def _provide_agent_role(caller: RequestCaller, db: Transaction) -> str | None:
    """The role that temporary credentials of agents belong to; version 3 has no settings."""
    return (await load_settings(db, caller.scope)).agent_role_arn


def _route_handlers() -> Sequence[ControllerRouterHandler]:
    return [
        *login_routes.ROUTES,
        Router(
            VERSION_3.prefix,
            route_handlers=legacy_routes.ROUTES,
            guards=[guard.check_scope],
            dependencies=guard.DEPENDENCIES | {"agent_role": Provide(_provide_agent_role)},
            tags=["Legacy"],
        ),
        Router("/m/core", route_handlers=deployment_routes.ROUTES),
    ]


def _job_types(settings: Settings, engine: AsyncEngine, encryptor: Encryptor) -> Sequence[JobType]:
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
    check_routes=guard.refuse_routes_without_scope,
    job_types=_job_types,
    deprecations=[VERSION_3],
    links=RESPONSE_LINKS,
    migrations=[LEGACY_MIGRATIONS],
    find_deletion_obstacle=_find_deletion_obstacle,
)
