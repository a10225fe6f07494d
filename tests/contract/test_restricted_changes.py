"""Callers restricted to billing groups change nothing outside them, on every mutating route."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from nimbill.access.gate import Changes
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.product import Product
from tests.contract.declared_routes import Route, all_routes
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.running_service import Service

MUTATING_CORE = [
    route for route in all_routes() if route.is_mutating and Product.core in route.products
]
SHARED = {
    "create_billing_groups_from_csv",
    "create_billing_group",
    "create_invoice_template",
    "change_invoice_template",
    "delete_invoice_template",
    "change_settings",
    "store_portal_logo",
    "delete_portal_logo",
    "create_webhook",
    "update_webhook",
    "delete_webhook",
    "rotate_webhook_secret",
    "send_test_webhook",
    "replay_webhook_delivery",
    "replay_failed_webhooks",
    "create_project",
    "edit_project",
    "delete_project",
    "create_import",
    "release_import",
    "decide_drift",
    "close_month",
    "reopen_month",
    "delete_deployment",
}


def changes_of(route: Route) -> Changes:
    changes: Changes = route.handler.opt["changes"]
    return changes


@pytest.fixture(scope="module")
def restricted(running: Service) -> Mapping[str, str]:
    """Headers of an administrator who is restricted to one billing group."""
    running.organisation = running.new_organisation()
    group = create_billing_group(running, running.root(), billinggroup_id="own")
    return running.caller(RoleAction.Admin, billing_groups=[group])


def send_empty(running: Service, route: Route, headers: Mapping[str, str]) -> Any:
    return running.http.request(route.method, route.fill_path(), headers=dict(headers))


def test_every_mutating_route_of_core_declares_what_it_changes() -> None:
    assert len(MUTATING_CORE) > 40
    assert {
        route.operation for route in MUTATING_CORE if changes_of(route) is Changes.shared_records
    } == SHARED


@pytest.mark.parametrize("route", MUTATING_CORE, ids=str)
def test_only_routes_that_change_shared_records_refuse_restricted_callers(
    running: Service, restricted: Mapping[str, str], route: Route
) -> None:
    response = send_empty(running, route, restricted)

    is_refused = response.status_code == 403 and response.json()["code"] == "narrowed_caller"
    assert is_refused is (changes_of(route) is Changes.shared_records), response.text


@pytest.mark.parametrize("path", ["/m/core/invoicetemplate", "/m/core/settings", "/m/core/project"])
def test_what_invoices_need_can_still_be_read(
    running: Service, restricted: Mapping[str, str], path: str
) -> None:
    assert running.http.get(path, headers=dict(restricted)).status_code == 200


def test_sign_out_and_own_clients_stay_open_to_restricted_callers() -> None:
    by_operation = {route.operation: changes_of(route) for route in MUTATING_CORE}

    assert by_operation["sign_out_of_core"] is Changes.users
    assert by_operation["create_api_client"] is Changes.users
