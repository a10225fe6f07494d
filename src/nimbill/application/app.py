"""Routes, gate, database and error answers, put together."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from litestar import Litestar, Router
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp

from nimbill.access.gate import gate, refuse_undeclared_routes
from nimbill.access.request_context import Resources
from nimbill.access.signing_keys import load_signing_keys
from nimbill.access.tokens import Tokens
from nimbill.adjustments.recalculation import routes as recalculation_routes
from nimbill.adjustments.reserved_instances import routes as reserved_instance_routes
from nimbill.application import audit_routes, service_routes
from nimbill.application.installed import (
    DEPRECATIONS,
    EXTENSIONS,
    installed_caller_loaders,
    installed_issuers,
    load_settings,
)
from nimbill.application.maintenance import maintenance_job_types, run_hourly_maintenance
from nimbill.application.middleware import RequestMiddleware
from nimbill.application.openapi import ExactNumbers, openapi_document
from nimbill.costs import routes as cost_routes
from nimbill.costs.months import routes as month_routes
from nimbill.customers.billing_groups import routes as billing_group_routes
from nimbill.customers.cloud_accounts import routes as account_routes
from nimbill.customers.invoice_templates import routes as invoice_template_routes
from nimbill.customers.organisation_settings import routes as settings_routes
from nimbill.customers.projects import routes as project_routes
from nimbill.customers.resellers import routes as reseller_routes
from nimbill.database.tenant_scope import engine_for
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import load_or_create_key
from nimbill.foundation.errors import ServiceError
from nimbill.foundation.logs import configure_logs
from nimbill.foundation.settings import Settings
from nimbill.http.problem_details import (
    answer_framework_error,
    answer_service_error,
    answer_unexpected,
)
from nimbill.http.routing import DEPENDENCIES, ExactRequest, ExactResponse, replay
from nimbill.identity.login import discovery_routes, session_routes
from nimbill.identity.login import routes as login_routes
from nimbill.identity.rbac import routes as rbac_routes
from nimbill.identity.users import routes as user_routes
from nimbill.imports import routes as import_routes
from nimbill.imports.job_types import import_job_types
from nimbill.invoicing.exports import routes as export_routes
from nimbill.invoicing.pdf import routes as paper_routes
from nimbill.invoicing.profit import routes as project_month_routes
from nimbill.invoicing.reconciliation import routes as tie_out_routes
from nimbill.invoicing.runs import routes as invoice_routes
from nimbill.invoicing.runs.invoice_run import invoice_job_types
from nimbill.jobs.runner import JobRunner
from nimbill.portal import routes as portal_routes

JSON_BYTES_MAX = 1_048_576

addresses_basis = chosen("addresses")

CORE_ROUTES = [
    *account_routes.ROUTES,
    *audit_routes.ROUTES,
    *billing_group_routes.ROUTES,
    *cost_routes.ROUTES,
    *export_routes.CORE_ROUTES,
    *import_routes.ROUTES,
    *invoice_routes.ROUTES,
    *invoice_template_routes.ROUTES,
    *paper_routes.ROUTES,
    *month_routes.ROUTES,
    *project_routes.ROUTES,
    *project_month_routes.ROUTES,
    *recalculation_routes.ROUTES,
    *reseller_routes.ROUTES,
    *reserved_instance_routes.ROUTES,
    *settings_routes.ROUTES,
    *tie_out_routes.ROUTES,
]


def create_app() -> ASGIApp:
    """What a worker process serves; settings come from its environment."""
    configure_logs()
    settings = load_settings()
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    return with_middleware(litestar_app(settings), settings)


def _leave_with(parent: int) -> None:
    """A worker whose parent was killed would hold the port against the next start."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def with_middleware(app: Litestar, settings: Settings) -> ASGIApp:
    over_tls = settings.base_url.startswith("https:")
    return RequestMiddleware(
        app,
        body_seconds=settings.body_seconds,
        over_tls=over_tls,
        deprecations=DEPRECATIONS,
    )


def litestar_app(settings: Settings) -> Litestar:
    """The application inside the door; a route that declares no gate keeps it from starting."""
    app = Litestar(
        route_handlers=[
            *service_routes.ROUTES,
            *login_routes.ROUTES,
            *session_routes.ROUTES,
            *discovery_routes.ROUTES,
            *export_routes.ROUTES,
            *(handler for extension in EXTENSIONS for handler in extension.route_handlers()),
            Router("/m/core", route_handlers=CORE_ROUTES),
            Router("/m/portal", route_handlers=portal_routes.ROUTES),
            Router("/m/u/users", route_handlers=user_routes.ROUTES),
            Router("/m/auth/rbac", route_handlers=rbac_routes.ROUTES),
        ],
        guards=[gate],
        before_request=replay,
        dependencies=DEPENDENCIES,
        request_class=ExactRequest,
        response_class=ExactResponse,
        request_max_body_size=JSON_BYTES_MAX,
        exception_handlers={
            ServiceError: answer_service_error,
            HTTPException: answer_framework_error,
            Exception: answer_unexpected,
        },
        lifespan=[_open_house(settings)],
        openapi_config=None,
        plugins=[ExactNumbers()],
        logging_config=None,
    )
    refuse_undeclared_routes(app)
    for extension in EXTENSIONS:
        extension.check_routes(app)
    app.state.openapi_document = openapi_document(app, settings.base_url, DEPRECATIONS)
    return app


def _open_house(settings: Settings) -> Callable[[Litestar], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def open_house(app: Litestar) -> AsyncIterator[None]:
        """Database, keys and the work loop, for as long as the process serves."""
        assert settings.database_url is not None, "the command that starts workers sets it"
        engine = engine_for(settings.database_url, settings.pool_size)
        encryptor = load_or_create_key(settings.key_file)
        async with engine.connect() as db:
            keys = await load_signing_keys(db, encryptor)
        tokens = Tokens(keys, installed_issuers(settings))
        app.state.resources = Resources(
            settings, engine, encryptor, tokens, installed_caller_loaders()
        )
        kinds = [
            *import_job_types(settings, engine),
            *invoice_job_types(engine),
            *(
                job_type
                for extension in EXTENSIONS
                for job_type in extension.job_types(settings, engine, encryptor)
            ),
            *maintenance_job_types(settings, encryptor),
        ]
        runner = JobRunner(engine, kinds)
        app.state.resources.run_job_now = runner.run_now
        stopping = asyncio.Event()
        chores = [
            asyncio.create_task(runner.run()),
            asyncio.create_task(run_hourly_maintenance(app.state.resources, stopping)),
        ]
        try:
            yield
        finally:
            runner.stop()
            stopping.set()
            await asyncio.gather(*chores)
            await engine.dispose()

    return open_house
