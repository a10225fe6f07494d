"""GET /m/portal/invoices, one invoice, its PDF and its CSV files"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.invoicing.exports.export_requests import parse_rows
from tests.invoicing.month_end import MONTH
from tests.portal.portal_scene import PortalScene
from tests.problem_responses import read_problem, read_violations

INVOICE = f"/invoices/{MONTH}/aws"
OF_ONE_INVOICE = ("", "/pdf", "/csv/discount", "/csv/merged")


def get_core_invoice(scene: PortalScene) -> Any:
    return scene.customer.month_end.get_invoice(scene.customer.company_id)


def test_invoices_are_listed_with_number_dates_and_totals(scene: PortalScene) -> None:
    invoice = get_core_invoice(scene)
    sheet = invoice["sheet"]

    assert scene.customer.get("/invoices") == [
        {
            "company_id": scene.customer.company_id,
            "month": MONTH,
            "vendor": "aws",
            "invoice_no": invoice["invoice_no"],
            "issue_date": invoice["issue_date"],
            "due_date": None,
            "currency": "jpy",
            "pre_tax": sheet["pre_tax"],
            "tax": sheet["tax"],
            "total": sheet["total"],
            "payment": None,
            "cancelled": False,
            "state": "created",
            "replaced": [],
        }
    ]
    assert scene.customer.get("/invoices", offset=1) == []


def test_a_user_of_the_organisation_sees_all_companies_or_the_chosen_one(
    scene: PortalScene,
) -> None:
    everything = scene.customer.get("/invoices", scene.root())
    chosen = scene.customer.get("/invoices", scene.root(), company_id=scene.other_company)

    assert {head["company_id"] for head in everything} == {
        scene.customer.company_id,
        scene.other_company,
    }
    assert chosen == scene.customer.get("/invoices", scene.stranger.portal)


def test_an_invoice_shows_what_is_printed(scene: PortalScene) -> None:
    core = get_core_invoice(scene)

    body = scene.customer.get(INVOICE)

    assert [(line["service"], line["charge"], line["amount"]) for line in body["lines"]] == [
        (line["service"], line["charge"], line["after"]) for line in core["sheet"]["lines"]
    ]
    assert [(entry["description"], entry["amount"]) for entry in body["entries"]] == [
        (entry["description"], entry["amount"]) for entry in core["sheet"]["entries"]
    ]
    for name in ("pre_tax", "tax", "total", "taxable", "tax_free", "tax_rate"):
        assert body[name] == core["sheet"][name]
    assert body["support"]["amount"] == core["sheet"]["support"]["after"]
    assert body["exchange_rate"] == Decimal("150.25")


def test_an_invoice_shows_nothing_of_the_vendors_cost(scene: PortalScene) -> None:
    body = scene.customer.get(INVOICE)

    hidden = {"stock", "charges", "terms", "setting", "imports", "memo", "sheet", "cost_currency"}
    assert hidden & body.keys() == set()
    for row in (*body["lines"], *body["entries"], body["support"]):
        assert {"cost", "why", "original", "entry_id"} & row.keys() == set()


def test_the_pdf_is_the_one_of_billing_administration(scene: PortalScene) -> None:
    path = f"/invoices/{MONTH}/{scene.customer.company_id}/aws/pdf"

    printed = scene.request("GET", f"{INVOICE}/pdf")

    assert printed.headers["content-type"] == "application/pdf"
    assert printed.content == scene.customer.month_end.get(path).content


def read_csv(scene: PortalScene, kind: str) -> list[dict[str, str]]:
    response = scene.request("GET", f"{INVOICE}/csv/{kind}")
    assert response.status_code == 200, response.text
    header, *rows = parse_rows(response.content)
    return [dict(zip(header, row, strict=True)) for row in rows]


def list_services(rows: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [
        (row["CustomerID"], row["ServiceName"], row["DiscountCharge"])
        for row in rows
        if row["ServiceType"] == "Service"
    ]


def test_the_discount_file_has_a_row_per_account_and_service(scene: PortalScene) -> None:
    sheet = get_core_invoice(scene)["sheet"]

    rows = read_csv(scene, "discount")

    assert list_services(rows) == [
        (line["customer_id"], line["service"], str(line["after"])) for line in sheet["lines"]
    ]
    assert Decimal(rows[-1]["Total"]) == sheet["total"]
    assert {row["BillingGroupID"] for row in rows} == {"BG-1"}


def test_the_merged_file_has_a_row_per_service_and_the_same_totals(scene: PortalScene) -> None:
    discount, merged = read_csv(scene, "discount"), read_csv(scene, "merged")

    services = list_services(merged)
    assert {customer_id for customer_id, _, _ in services} == {""}
    assert sorted(name for _, name, _ in services) == ["AmazonEC2", "AmazonRDS", "AmazonS3"]
    assert sum(Decimal(amount) for _, _, amount in services) == sum(
        Decimal(amount) for _, _, amount in list_services(discount)
    )
    assert merged[-1] == discount[-1]


@pytest.mark.parametrize("kind", ["discount", "merged"])
def test_the_headings_of_a_file_are_in_the_chosen_language(scene: PortalScene, kind: str) -> None:
    plain, english, japanese = (
        parse_rows(scene.request("GET", f"{INVOICE}/csv/{kind}{query}").content)
        for query in ("", "?language=en", "?language=ja")
    )

    assert plain == english
    assert plain[0][:2] == ["BillingGroupID", "BillingGroupName"]
    assert japanese[0][:2] == ["請求グループID", "請求グループ名"]
    assert japanese[1:] == plain[1:]


@pytest.mark.parametrize("path", ["/invoices", *(INVOICE + end for end in OF_ONE_INVOICE)])
def test_a_restricted_user_is_refused(scene: PortalScene, path: str) -> None:
    refused = scene.request("GET", path, None, scene.clerk)

    assert read_problem(refused, 403)["code"] == "narrowed_caller"


@pytest.mark.parametrize("end", OF_ONE_INVOICE)
def test_a_user_of_several_companies_names_one(scene: PortalScene, end: str) -> None:
    unnamed = scene.request("GET", INVOICE + end, None, scene.root())
    named = scene.request(
        "GET", f"{INVOICE}{end}?company_id={scene.customer.company_id}", None, scene.root()
    )

    assert [field for field, _ in read_violations(unnamed)] == ["company_id"]
    assert named.content == scene.request("GET", INVOICE + end).content


@pytest.mark.parametrize("end", OF_ONE_INVOICE)
def test_other_companies_and_missing_invoices_are_not_found(scene: PortalScene, end: str) -> None:
    foreign = scene.request("GET", f"{INVOICE}{end}?company_id={scene.other_company}")
    missing = scene.request("GET", f"/invoices/2026-08/aws{end}")

    assert (foreign.status_code, missing.status_code) == (404, 404)
