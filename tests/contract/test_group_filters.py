"""A caller with a filter on billing groups sees everything of those groups and nothing of others.

Both groups have accounts, costs, entries, reservations, invoices and a reseller. Responses are
opened: links to files are followed, and what CSV, PDF and zip files contain is read.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.product import Product
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.full_groups import make_full_group
from tests.contract.opened_responses import FileKind, open_files, open_response
from tests.contract.resource_factories import make_api_client, make_reseller
from tests.contract.route_requests import build_valid_request, send_request
from tests.contract.superuser import connect_superuser
from tests.contract.tenants import PLAIN_VALUES, Tenant, new_tenant
from tests.portal.portal_customer import ALL_FLAGS
from tests.running_service import Service
from tests.subusers import issue_token_headers

PRODUCTS = (Product.core, Product.portal)

# reading routes that are not GET
POSTED = {
    "create_or_list_resellers",  # lists without a body
    "export_billing_group_csv",
    "export_billing_group_setting_csv",
    "export_invoice_account_csv",
    "export_invoice_tag_csv",
}
# routes that show data of every visible group
LISTS = POSTED | {
    "download_credit_notes",
    "download_focus_file",
    "download_usage_report",
    "export_archive",
    "list_account_groups",
    "list_account_totals",
    "list_accounts",
    "list_approvals",
    "list_archived_documents",
    "list_audit_entries",
    "list_billing_groups",
    "list_credit_notes",
    "list_deliveries",
    "list_exchange_rates",
    "list_fees",
    "list_findings",
    "list_invoices",
    "list_payments",
    "list_portal_accounts",
    "list_portal_reservations",
    "list_recalculation",
    "list_receivables",
    "summarize_invoices",
    "list_resellers",
    "list_reserved_instances",
    "list_savings_plans",
    "print_month",
    "read_account_graph",
    "read_account_usage",
    "read_costs",
    "read_group_usage",
    "read_cross_tag_graph",
    "read_cross_tag_usage",
    "read_tag_graph",
    "read_tag_usage",
    "read_recommendations",
    "read_reservation_use",
    "search",
}
# routes that name the groups to which the caller is restricted
OWN_FILTERS = {"read_signed_in_user"}
# routes that show data of the group in their path or query
OF_ONE_GROUP = {
    "compare_invoice",
    "compare_invoice_revision",
    "download_discount_csv",
    "download_merged_csv",
    "explain_invoice",
    "list_billing_group_details",
    "list_contacts",
    "list_credit_notes_of_invoice",
    "list_deliveries_of_invoice",
    "list_invoice_revisions",
    "list_payments_of_invoice",
    "print_covering_page",
    "read_approval",
    "print_credit_note",
    "read_credit_note",
    "print_customer_invoice",
    "print_invoice",
    "print_invoice_revision",
    "read_customer_history",
    "read_customer_invoice",
    "read_invoice",
    "read_invoice_revision",
}
# routes about a whole month, delivery or the organisation: a restricted caller finds nothing
OF_WHOLE_MONTH = {
    "get_import": 404,
    "list_drift": 404,
    "list_imports": 200,
    "list_unassigned_accounts": 200,
    "list_months": 200,
    "read_month": 404,
    "read_tie_out": 404,
    "list_webhooks": 200,
    "read_webhook": 404,
    "list_webhook_deliveries": 404,
}
# routes that show figures of the visible groups without naming them
FIGURES = {
    "export_projects_of_month",
    "list_customer_invoices",
    "list_invoice_runs",
    "list_projects_of_month",
    "list_saved_months",
    "read_group_graph",
    "read_invoice_state",
    "sum_receivables",
}
# routes of the portal that show figures of one company
OF_ONE_COMPANY = {
    "list_anomalies",
    "read_budget_alerts",
    "read_budgets",
    "read_dashboard",
    "read_forecast",
}
# what is opened of the routes whose responses are files, or link to them
CSV, PDF, ZIP = FileKind.csv, FileKind.pdf, FileKind.zip
FILES: Mapping[str, set[FileKind]] = {
    "download_credit_notes": {CSV},
    "download_discount_csv": {CSV},
    "download_focus_file": {CSV},
    "download_merged_csv": {CSV},
    "download_usage_report": {CSV},
    "export_archive": {ZIP, CSV, PDF},
    "export_billing_group_csv": {CSV},
    "export_billing_group_setting_csv": {CSV},
    "export_invoice_account_csv": {CSV},
    "export_invoice_tag_csv": {CSV},
    "export_projects_of_month": {CSV},
    "print_covering_page": {PDF},
    "print_credit_note": {PDF},
    "print_customer_invoice": {PDF},
    "print_invoice": {PDF},
    "print_invoice_revision": {PDF},
    "print_month": {ZIP, PDF},
}
WITHOUT_GROUP_DATA = {
    "get_archive_key",
    "list_api_clients",
    "list_invoice_templates",
    "list_mappings_of_subuser",
    "list_own_mappings",
    "list_permissions",
    "list_permissions_of_subuser",
    "list_projects",
    "list_reseller_sessions",
    "list_roles",
    "list_saved_filters",
    "list_second_factors",
    "list_sessions",
    "list_subusers",
    "read_access_of_subuser",
    "read_deployment",
    "read_email",
    "read_own_branding",
    "read_settings",
    "verify_audit_log",
    "who_am_i",
}


READS = [
    (route, product)
    for route in protected_routes()
    for product in route.products
    if product in PRODUCTS and (route.method == "GET" or route.operation in POSTED)
]


def each_read(*operations: str, products: Sequence[Product] = PRODUCTS) -> pytest.MarkDecorator:
    """Run the test for these operations, or for all."""
    reads = [
        (route, product)
        for route, product in READS
        if product in products and (not operations or route.operation in operations)
    ]
    names = [f"{route.operation}, {product}" for route, product in reads]
    return pytest.mark.parametrize(("route", "product"), reads, ids=names)


@dataclass(frozen=True)
class Scene:
    """An organisation with two groups, and another organisation with one."""

    visible: Tenant
    hidden: Tenant
    foreign: Tenant

    def restricted(self, product: Product) -> dict[str, str]:
        """Headers of an administrator who is restricted to the visible group."""
        assert self.visible.group is not None
        return self.visible.service.caller(
            RoleAction.Admin,
            product=product,
            organisation=self.visible.organisation,
            billing_groups=[self.visible.group],
        )

    def customer(self) -> dict[str, str]:
        """Headers of a portal login of the visible group with every flag."""
        tenant, user_id = self.visible, make_reseller(self.visible)
        tenant.superuser.sql(
            "UPDATE resellers SET meta = $1 WHERE user_id = $2", json.dumps(ALL_FLAGS), user_id
        )
        client_id = make_api_client(tenant, user_id)
        return issue_token_headers(
            tenant.service, Product.portal, user_id, client_id, organisation=tenant.organisation
        )


@pytest.fixture(scope="module")
def scene(running: Service, superuser: Address) -> Iterator[Scene]:
    with connect_superuser(running, superuser) as db:
        tenant, other = (new_tenant(running, db, canary) for canary in ("kanaria", "kanarib"))
        visible, hidden = (make_full_group(tenant, canary) for canary in ("kanaric", "kanarid"))
        yield Scene(visible, hidden, make_full_group(other, "kanarie"))


def read(tenant: Tenant, route: Route, headers: dict[str, str]) -> httpx.Response:
    """Send the request without optional parameters, which might hide something too."""
    request = build_valid_request(route, tenant)
    kept = {*PLAIN_VALUES, *({"company_id"} if route.operation in OF_ONE_GROUP else ())}
    query = {name: value for name, value in request.query.items() if name in kept}
    body = None if route.operation == "create_or_list_resellers" else request.body
    if isinstance(body, dict) and "redo" in body:
        body = {"redo": True}  # asks for an existing file
    return send_request(tenant, route, replace(request, query=query, body=body), headers)


def assert_nothing_of(tenant: Tenant, text: str) -> None:
    assert tenant.group is not None
    assert tenant.find_canaries(text) == []
    assert tenant.group not in text


def test_every_reading_route_is_tested() -> None:
    operations = [*LISTS, *OF_ONE_GROUP, *OF_WHOLE_MONTH, *FIGURES, *WITHOUT_GROUP_DATA]
    operations += [*OF_ONE_COMPANY, *OWN_FILTERS]

    assert sorted(operations) == sorted({route.operation for route, _ in READS})


@each_read()
def test_a_restricted_caller_sees_nothing_of_the_hidden_group(
    scene: Scene, logs: io.StringIO, route: Route, product: Product
) -> None:
    if route.operation in FILES:  # a file that is kept for the next caller has both groups
        service, organisation = scene.visible.service, scene.visible.organisation
        open_files(service, read(scene.visible, route, service.root(organisation, product)))

    response = read(scene.visible, route, scene.restricted(product))

    opened = open_files(scene.visible.service, response)
    text = opened.text
    assert response.status_code == OF_WHOLE_MONTH.get(route.operation, 200), response.text
    for tenant in (scene.hidden, scene.foreign):
        assert_nothing_of(tenant, text + repr(response.headers) + logs.getvalue())
    assert opened.kinds == FILES.get(route.operation, set())
    if route.operation in LISTS | OF_ONE_GROUP | OWN_FILTERS:
        assert scene.visible.find_canaries(text) != []
    elif route.operation in OF_WHOLE_MONTH and response.is_success:
        assert response.json() == []


@each_read(*FILES, products=[Product.portal])
def test_a_customer_downloads_nothing_of_another_group(
    scene: Scene, logs: io.StringIO, route: Route, product: Product
) -> None:
    response = read(scene.visible, route, scene.customer())

    opened = open_files(scene.visible.service, response)
    assert response.status_code == 200, response.text
    assert opened.kinds == FILES[route.operation]
    assert scene.visible.find_canaries(opened.text) != []
    for tenant in (scene.hidden, scene.foreign):
        assert_nothing_of(tenant, opened.text + repr(response.headers) + logs.getvalue())


@each_read(*LISTS)
def test_the_root_user_sees_both_groups(scene: Scene, route: Route, product: Product) -> None:
    """Without this, the hidden group might have nothing that could be shown."""
    service, organisation = scene.visible.service, scene.visible.organisation

    response = read(scene.visible, route, service.root(organisation, product))

    text = open_response(service, response)
    assert response.status_code == 200, response.text
    assert scene.visible.find_canaries(text) != []
    assert scene.hidden.find_canaries(text) != []
    assert_nothing_of(scene.foreign, text)


@each_read(*LISTS, *OF_ONE_GROUP)
def test_another_organisation_sees_its_own_group_only(
    scene: Scene, route: Route, product: Product
) -> None:
    service, organisation = scene.foreign.service, scene.foreign.organisation

    response = read(scene.foreign, route, service.root(organisation, product))

    text = open_response(service, response)
    assert response.status_code == 200, response.text
    assert scene.foreign.find_canaries(text) != []
    for tenant in (scene.visible, scene.hidden):
        assert_nothing_of(tenant, text)


@pytest.mark.parametrize("by", ["account", "service", "line_type", "account,service,day"])
def test_costs_are_those_of_visible_accounts_however_they_are_grouped(
    scene: Scene, by: str
) -> None:
    path = f"/m/core/costs/{PLAIN_VALUES['month']}"
    query, headers = {"vendor": "aws", "by": by}, scene.restricted(Product.core)

    response = scene.visible.service.http.get(path, params=query, headers=headers)

    assert response.status_code == 200, response.text
    assert scene.visible.find_canaries(response.text) != []
    assert_nothing_of(scene.hidden, response.text)


def find_project_code(tenant: Tenant) -> str:
    rows = tenant.superuser.sql(
        "SELECT project_code FROM projects JOIN billing_groups USING (organisation_id, project_id)"
        " WHERE company_id = $1",
        tenant.group,
    )
    return str(rows[0]["project_code"])


@pytest.mark.parametrize("is_restricted", [True, False])
def test_the_figures_of_projects_are_those_of_visible_groups(
    scene: Scene, *, is_restricted: bool
) -> None:
    """Projects belong to the organisation, so they are listed, but without hidden figures."""
    service, month = scene.visible.service, PLAIN_VALUES["month"]
    root = service.root(scene.visible.organisation)
    headers = scene.restricted(Product.core) if is_restricted else root
    codes = [find_project_code(tenant) for tenant in (scene.visible, scene.hidden)]

    listed = service.http.get(f"/m/core/project/{month}", headers=headers)
    exported = service.http.get(f"/m/core/project/{month}/csv", headers=headers)

    sales = {
        project["project_code"]: project["amount"]["total"]["sales"] for project in listed.json()
    }
    assert [sales[code] > 0 for code in codes] == [True, not is_restricted]
    rows = [row.split("\t") for row in open_response(service, exported).splitlines()]
    for code in codes:
        of_project = [row for row in rows if code in row]
        assert of_project != []
        assert has_figure(of_project) is (sales[code] > 0)


def has_figure(rows: list[list[str]]) -> bool:
    """Whether a cell is a number other than zero."""
    return any(re.fullmatch(r"-?[0-9.]*[1-9][0-9.]*", cell) for row in rows for cell in row)


def test_a_restricted_caller_sees_only_the_invoice_runs_of_its_groups(scene: Scene) -> None:
    service, path = scene.visible.service, f"/m/core/invoices/runs/{PLAIN_VALUES['month']}"
    root = service.root(scene.visible.organisation)

    everything, visible = (
        service.http.get(path, headers=headers).json()
        for headers in (root, scene.restricted(Product.core))
    )

    assert {run["vendor"] for run in visible} == {"aws", "azure"}
    hidden_runs = [run for run in everything if run not in visible]
    assert len(hidden_runs) == 3  # of the hidden group: two revisions for aws, one for azure
