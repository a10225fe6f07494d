"""The application: all routes with access control, error handling and middleware."""

import asyncio
import os
import signal
import time
from functools import cache

from litestar import Litestar, Router
from litestar.exceptions import HTTPException
from litestar.types import ASGIApp, ControllerRouterHandler

from nimbill.access.gate import gate, refuse_undeclared_routes
from nimbill.adjustments.recalculation import routes as recalculation_routes
from nimbill.adjustments.reserved_instances import routes as reserved_instance_routes
from nimbill.application import audit_routes, me_routes, service_routes, web_pages
from nimbill.application.installed import (
    DEPRECATIONS,
    EXTENSIONS,
    installed_links,
    load_settings,
)
from nimbill.application.lifespan import build_lifespan
from nimbill.application.middleware import RequestMiddleware
from nimbill.application.openapi import build_openapi_document
from nimbill.approvals import routes as approval_routes
from nimbill.closing.checks import routes as check_routes
from nimbill.closing.overview import routes as overview_routes
from nimbill.closing.profit import routes as profit_routes
from nimbill.closing.reconciliation import routes as tie_out_routes
from nimbill.closing.search import routes as search_routes
from nimbill.closing.steps import routes as closing_routes
from nimbill.corrections.drift import routes as drift_routes
from nimbill.corrections.replacements import routes as replacement_routes
from nimbill.costs import routes as cost_routes
from nimbill.credit_notes import routes as credit_note_routes
from nimbill.customers.billing_groups import routes as billing_group_routes
from nimbill.customers.cloud_accounts import routes as account_routes
from nimbill.customers.contacts import routes as contact_routes
from nimbill.customers.invoice_templates import routes as invoice_template_routes
from nimbill.customers.organisation_settings import routes as settings_routes
from nimbill.customers.portal_branding import routes as branding_routes
from nimbill.customers.projects import routes as project_routes
from nimbill.customers.resellers import routes as reseller_routes
from nimbill.customers.resellers import sign_in_routes as reseller_sign_in_routes
from nimbill.foundation.errors import ServiceError
from nimbill.foundation.logs import configure_library_logs, configure_logs
from nimbill.foundation.parent_watch import watch_parent
from nimbill.foundation.private_files import make_files_private
from nimbill.foundation.settings import Settings
from nimbill.http.problem_details import (
    handle_framework_error,
    handle_service_error,
    handle_unexpected_error,
)
from nimbill.http.routing import DEPENDENCIES, ExactRequest, ExactResponse, prepare_request
from nimbill.identity.login import (
    discovery_routes,
    password_reset_routes,
    second_step_routes,
    session_list_routes,
    session_routes,
)
from nimbill.identity.login import routes as login_routes
from nimbill.identity.rbac import routes as rbac_routes
from nimbill.identity.second_factors import routes as second_factor_routes
from nimbill.identity.users import routes as user_routes
from nimbill.imports import routes as import_routes
from nimbill.invoicing.explanation import routes as explanation_routes
from nimbill.invoicing.exports import routes as export_routes
from nimbill.invoicing.pdf import routes as pdf_routes
from nimbill.invoicing.preview import routes as preview_routes
from nimbill.invoicing.runs import routes as invoice_routes
from nimbill.issuing.archive import routes as archive_routes
from nimbill.issuing.deliveries import routes as delivery_routes
from nimbill.issuing.sending import routes as sending_routes
from nimbill.portal import report_parameters
from nimbill.portal import routes as portal_routes
from nimbill.portal.accounts import routes as portal_account_routes
from nimbill.portal.anomalies import routes as portal_anomaly_routes
from nimbill.portal.budgets import routes as portal_budget_routes
from nimbill.portal.commitments import routes as portal_commitment_routes
from nimbill.portal.dashboard import routes as portal_dashboard_routes
from nimbill.portal.fees import routes as portal_fee_routes
from nimbill.portal.forecast import routes as portal_forecast_routes
from nimbill.portal.groups import routes as portal_group_routes
from nimbill.portal.invoices import routes as portal_invoice_routes
from nimbill.portal.reports import routes as portal_report_routes
from nimbill.portal.saved_filters import routes as portal_filter_routes
from nimbill.portal.staff_views import routes as staff_view_routes
from nimbill.portal.tags import routes as portal_tag_routes
from nimbill.portal.usage import routes as portal_usage_routes
from nimbill.receivables.payments import routes as payment_routes
from nimbill.webhooks import routes as webhook_routes

JSON_BYTES_MAX = 1_048_576
REPEAT_STOP_SECONDS = 1

# See docs/choices.md, addresses.

CORE_ROUTES = [
    *account_routes.ROUTES,
    *contact_routes.ROUTES,
    *approval_routes.ROUTES,
    *audit_routes.ROUTES,
    *billing_group_routes.ROUTES,
    *branding_routes.CORE_ROUTES,
    *check_routes.ROUTES,
    *closing_routes.ROUTES,
    *cost_routes.ROUTES,
    *explanation_routes.ROUTES,
    *export_routes.CORE_ROUTES,
    *import_routes.ROUTES,
    *invoice_routes.ROUTES,
    *invoice_template_routes.ROUTES,
    *me_routes.ROUTES,
    *overview_routes.ROUTES,
    *pdf_routes.ROUTES,
    *preview_routes.ROUTES,
    *project_routes.ROUTES,
    *profit_routes.ROUTES,
    *recalculation_routes.ROUTES,
    *reseller_routes.ROUTES,
    *reseller_sign_in_routes.ROUTES,
    *reserved_instance_routes.ROUTES,
    *archive_routes.ROUTES,
    *search_routes.ROUTES,
    *sending_routes.ROUTES,
    *credit_note_routes.ROUTES,
    *payment_routes.ROUTES,
    *delivery_routes.ROUTES,
    *drift_routes.ROUTES,
    *replacement_routes.ROUTES,
    *settings_routes.ROUTES,
    *staff_view_routes.CORE_ROUTES,
    *tie_out_routes.ROUTES,
    *webhook_routes.ROUTES,
]
PORTAL_ROUTES = [
    *portal_routes.ROUTES,
    *portal_anomaly_routes.ROUTES,
    *portal_budget_routes.ROUTES,
    *portal_dashboard_routes.ROUTES,
    *portal_forecast_routes.ROUTES,
    *portal_account_routes.ROUTES,
    *portal_fee_routes.ROUTES,
    *portal_filter_routes.ROUTES,
    *portal_group_routes.ROUTES,
    *portal_invoice_routes.ROUTES,
    *portal_report_routes.ROUTES,
    *portal_usage_routes.ROUTES,
    *portal_tag_routes.ROUTES,
    *portal_commitment_routes.ROUTES,
    *staff_view_routes.PORTAL_ROUTES,
]
USER_ROUTES = [
    *user_routes.ROUTES,
    *session_list_routes.ROUTES,
    *second_factor_routes.USER_ROUTES,
]


def create_app() -> ASGIApp:
    """Create the application of a worker process. Settings come from its environment."""
    configure_logs()
    make_files_private()
    configure_library_logs()
    settings = load_settings()
    # A worker that outlives its parent would keep the port in use.
    watch_parent(_stop_process)
    return add_middleware(create_litestar_app(settings), settings)


def _stop_process() -> None:
    """Repeats SIGTERM until the process ends, because a worker ignores it while it starts."""
    while True:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(REPEAT_STOP_SECONDS)


def add_middleware(app: Litestar, settings: Settings) -> ASGIApp:
    return RequestMiddleware(
        app,
        body_seconds=settings.body_seconds,
        is_https=settings.base_url.startswith("https:"),
        deprecations=DEPRECATIONS,
    )


def create_litestar_app(settings: Settings) -> Litestar:
    """Create the application without middleware. Refuses routes without access declarations."""
    app = Litestar(
        route_handlers=_build_route_handlers(),
        guards=[gate],
        before_request=prepare_request,
        dependencies=DEPENDENCIES,
        request_class=ExactRequest,
        response_class=ExactResponse,
        request_max_body_size=JSON_BYTES_MAX,
        exception_handlers={
            ServiceError: handle_service_error,
            HTTPException: handle_framework_error,
            Exception: handle_unexpected_error,
        },
        lifespan=[build_lifespan(settings)],
        openapi_config=None,
        logging_config=None,
    )
    refuse_undeclared_routes(app)
    for extension in EXTENSIONS:
        extension.check_routes(app)
    app.state.openapi_lock = asyncio.Lock()
    app.state.build_openapi_document = cache(
        lambda: build_openapi_document(
            _build_route_handlers(), settings.base_url, DEPRECATIONS, installed_links()
        )
    )
    return app


def _build_route_handlers() -> list[ControllerRouterHandler]:
    return [
        *service_routes.ROUTES,
        *web_pages.ROUTES,
        *branding_routes.PUBLIC_ROUTES,
        *login_routes.ROUTES,
        *session_routes.ROUTES,
        *second_step_routes.ROUTES,
        *password_reset_routes.ROUTES,
        *discovery_routes.ROUTES,
        *export_routes.ROUTES,
        *(handler for extension in EXTENSIONS for handler in extension.route_handlers()),
        Router("/m/core", route_handlers=CORE_ROUTES),
        Router(
            "/m/portal", route_handlers=PORTAL_ROUTES, dependencies=report_parameters.DEPENDENCIES
        ),
        Router("/m/u/users", route_handlers=USER_ROUTES),
        Router("/m/u", route_handlers=second_factor_routes.OWN_ROUTES),
        Router("/m/auth/rbac", route_handlers=rbac_routes.ROUTES),
    ]
