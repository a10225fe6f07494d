"""GCP and another FOCUS provider, from the setting that enables them to the closed month."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.costs.formats.gcp_files import CUSTOMER, OTHER_CUSTOMER, PAYER, build_line, write_file
from tests.invoicing.exports.export_requests import download_content, parse_rows
from tests.invoicing.month_end import MONTH
from tests.invoicing.pdf.pdf_text import extract_text
from tests.invoicing.runs.billed_vendors import (
    PROVIDER_NAMES,
    SETTING,
    TENANCY,
    VENDORS,
    BilledVendors,
    build_billed_vendors,
)
from tests.problem_responses import read_violations
from tests.running_service import Service


@pytest.fixture(scope="module")
def billed(running: Service, tmp_path_factory: pytest.TempPathFactory) -> BilledVendors:
    return build_billed_vendors(running, tmp_path_factory.mktemp("vendors"))


@pytest.fixture
def first(billed: BilledVendors) -> str:
    return billed.groups["BG-1"]


# usage 10.25 - 0.75 - 1.5 = 8.00, less 10 % = 7.20, at 100 = 720; entry -2.5 at 100 = -250
GCP_PRE_TAX, GCP_TAX = 470, 47
# usage 12.5 + 2 = 14.5, less 10 % = 13.05, at 100 = 1305; tax 130.5
ORACLE_PRE_TAX, ORACLE_TAX = 1305, 131


@pytest.mark.parametrize(
    ("vendor", "pre_tax", "tax"),
    [("gcp", GCP_PRE_TAX, GCP_TAX), ("oracle", ORACLE_PRE_TAX, ORACLE_TAX)],
)
def test_invoices_have_the_amounts_calculated_by_hand(
    billed: BilledVendors, first: str, vendor: str, pre_tax: int, tax: int
) -> None:
    sheet = billed.succeed("GET", f"/invoices/{MONTH}/{first}/{vendor}")["sheet"]

    assert (sheet["pre_tax"], sheet["tax"], sheet["total"]) == (pre_tax, tax, pre_tax + tax)


@pytest.mark.parametrize(("vendor", "label"), [("gcp", "GCP"), ("oracle", "Oracle")])
def test_the_pdf_shows_the_name_of_the_vendor(
    billed: BilledVendors, first: str, vendor: str, label: str
) -> None:
    pdf = billed.succeed("GET", f"/invoices/{MONTH}/{first}/{vendor}/pdf")

    assert f"Cloud vendor {label}\n" in extract_text(pdf) + "\n"


def test_the_cover_page_lists_both_vendors(billed: BilledVendors, first: str) -> None:
    text = extract_text(billed.succeed("GET", f"/invoices/{MONTH}/{first}/pdf"))

    assert "GCP" in text
    assert "Oracle" in text


def test_only_publishers_other_than_the_vendor_are_its_marketplace(
    billed: BilledVendors, first: str
) -> None:
    document = billed.succeed("GET", f"/invoices/{MONTH}/{first}/oracle")

    usage = {charge["service"]: charge["marketplace"] for charge in document["charges"]["usage"]}
    assert usage == {"Storage": False, "Firewall": True}


def test_the_list_and_its_totals_have_the_enabled_vendors(billed: BilledVendors) -> None:
    listed = billed.succeed("GET", f"/invoices/{MONTH}")

    record = listed["billinggroup"][0]
    for name in ("created_data", "saved_data", "default_data", "total"):
        assert list(record[name]) == VENDORS
    assert {account["vendor"] for account in record["accounts"]} == {"gcp", "oracle"}
    # vendor cost without tax at 100: (8 - 2.5 + 0.2) and 14.5; sales of both groups
    assert listed["total"]["other_vendors"] == {
        "gcp": {"stock": 570, "sales": GCP_PRE_TAX + 18},
        "oracle": {"stock": 1450, "sales": ORACLE_PRE_TAX},
    }


def test_account_totals_and_the_csv_file_contain_them(billed: BilledVendors) -> None:
    totals = billed.succeed("GET", f"/invoice/{MONTH}/details")
    link = billed.succeed("POST", f"/export/csv/invoice_account/{MONTH}")["url"]
    rows = parse_rows(download_content(billed.service, link))

    vendors = {record["vendor"] for record in totals["billing_groups"]}
    assert vendors == {"gcp", "oracle"}
    exported = [(row[3], row[-1]) for row in rows if row[7] == "_TOTAL"]
    assert sorted(exported) == [("gcp", "20"), ("gcp", "517"), ("oracle", "1436")]
    assert {row[4] for row in rows if row[7] == "_ACCOUNT_TOTAL"} == {
        CUSTOMER,
        OTHER_CUSTOMER,
        TENANCY,
    }


def test_costs_tie_out_and_the_month_can_be_closed(billed: BilledVendors) -> None:
    tie_out = billed.succeed("GET", f"/invoices/tie-out/{MONTH}")
    months = billed.succeed("GET", "/months")

    assert tie_out["ties"] is True
    payers = {(payer["vendor"], payer["payer_id"]): payer for payer in tie_out["payers"]}
    assert payers["gcp", PAYER]["total"] == 9.0  # 8 + 0.2 + tax 3.3 - 2.5
    assert payers["oracle", "parent"]["total"] == 14.5
    assert {month["vendor"]: month["can_be_closed"] for month in months} == {
        "gcp": True,
        "oracle": True,
    }


def test_costs_are_read_by_tag_and_without_a_vendor(billed: BilledVendors) -> None:
    by_project = billed.succeed("GET", f"/costs/{MONTH}?vendor=gcp&by=tag:project.id,line_type")
    everything = billed.succeed("GET", f"/costs/{MONTH}?by=account")

    usage = [row for row in by_project["rows"] if row["kind"] == "usage"]
    assert {(row["tag_value"], row["cost"]) for row in usage} == {("shop-1", 8.2)}
    assert {row["customer_id"] for row in everything["rows"]} == {
        CUSTOMER,
        OTHER_CUSTOMER,
        TENANCY,
    }


def test_a_closed_month_reports_drift_and_can_be_reopened(
    billed: BilledVendors, tmp_path: Path
) -> None:
    body = {"vendor": "gcp", "reason": "done"}
    changed = write_file([build_line(cost="9")], tmp_path, "csv")

    billed.succeed("POST", f"/invoices/close/{MONTH}", json=body)
    state = billed.import_file(changed, "gcp")["state"]
    billed.succeed("POST", f"/invoices/reopen/{MONTH}", json=body)

    assert state == "drift"


def test_terms_of_other_vendors_follow_the_column_of_azure(
    billed: BilledVendors, first: str
) -> None:
    setting = {**SETTING, "support_fee": "aws_business", "tax_rate": 0.08}
    body = {"vendor": "gcp", "invoices": setting}

    response = billed.call("POST", f"/billinggroup/{first}/invoices", json=body)

    rules = dict(read_violations(response))
    assert rules["invoices.support_fee"].startswith("one of percent, fix;")


def test_reservations_can_be_listed_but_not_moved(billed: BilledVendors) -> None:
    move = {"customer_id": CUSTOMER, "number": 1, "vendor": "gcp"}

    assert billed.succeed("GET", "/ri/purchased?vendor=gcp") == []
    response = billed.call("POST", "/ri/purchased/x", json=move)
    assert read_violations(response) == [("vendor", "one of aws")]


@pytest.mark.parametrize("customer_id", ["", "a" * 65, "a/b", "a|b", "é", " a", "..", "a\n"])
def test_an_account_id_has_up_to_64_printable_characters(
    billed: BilledVendors, customer_id: str
) -> None:
    response = billed.add_account("BG-1", "oracle", customer_id, "parent")

    assert [field for field, _ in read_violations(response)] == ["customer_id"]


def test_accounts_are_imported_listed_changed_and_deleted(billed: BilledVendors) -> None:
    content = "vendor,customer_id,account_id,name,billinggroup_id\noracle,t 1,p,three,BG-2\n"
    headers = billed.service.root(billed.organisation) | {"Content-Type": "text/csv"}
    created = billed.service.http.post("/m/core/accts/csv", content=content, headers=headers)
    body = {"vendor": "oracle", "account_id": "q", "company_id": billed.groups["BG-2"]}

    billed.succeed("PUT", "/accts/t%201/edit", json=body | {"name": "four"})
    listed = billed.succeed("GET", "/accts?vendor=oracle")
    billed.succeed("DELETE", "/accts/oracle/t%201%7Cq")

    assert created.status_code == 200, created.text
    assert [account["customer_name"] for account in listed] == ["four", "account of BG-1"][::-1]


@pytest.mark.parametrize(
    ("kept", "rule"),
    [(["aws", "azure", "oracle"], "gcp has accounts"), (["gcp", "aws"], "oracle has accounts")],
)
def test_a_vendor_in_use_cannot_be_disabled(
    billed: BilledVendors, kept: list[str], rule: str
) -> None:
    names = {name: PROVIDER_NAMES[name] for name in kept if name in PROVIDER_NAMES}

    response = billed.call("PUT", "/settings", json={"vendors": kept, "provider_names": names})

    assert (response.status_code, response.json()["code"]) == (409, "vendor_in_use")
    assert response.json()["violations"] == [{"field": "vendors", "rule": rule}]
    assert billed.succeed("GET", "/settings")["vendors"] == VENDORS


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/accts", {"vendor": "gcp", "customer_id": "x", "account_id": "y"}),
        ("GET", "/accts?vendor=gcp", None),
        ("PUT", f"/invoices/exchangerate/{MONTH}", {"vendor": "gcp"}),
        ("POST", f"/invoices/close/{MONTH}", {"vendor": "gcp"}),
        ("GET", f"/months/{MONTH}?vendor=gcp", None),
        ("GET", f"/invoices/{MONTH}/x/gcp", None),
        ("GET", f"/invoices/{MONTH}/x/gcp/pdf", None),
        ("POST", "/billinggroup/x/freeformat/gcp", {"additional_items": []}),
        ("GET", f"/billinggroup/recalculation/{MONTH}?vendor=gcp", None),
        ("GET", "/ri/purchased?vendor=gcp", None),
    ],
)
def test_another_organisation_still_refuses_them(
    billed: BilledVendors, service: Service, method: str, path: str, body: Any
) -> None:
    response = service.http.request(method, f"/m/core{path}", json=body, headers=service.root())

    assert ("vendor", "one of aws, azure") in read_violations(response)
    assert billed.organisation != service.organisation


def test_importing_a_vendor_that_is_not_enabled_says_how_to_enable_it(
    service: Service, tmp_path: Path
) -> None:
    path = write_file([build_line()], tmp_path, "jsonl")
    headers = service.root()

    response = service.http.post(
        "/m/core/costs/imports",
        data={"vendor": "gcp"},
        files={"file": ("export.jsonl", path.read_bytes())},
        headers=headers,
    )

    assert (response.status_code, response.json()["code"]) == (409, "vendor_disabled")
    assert "The vendor gcp is not enabled" in response.json()["detail"]
    assert "organisation setting vendors" in response.json()["detail"]
    assert service.http.get("/m/core/costs/imports", headers=headers).json() == []
    source = {"vendor": "oracle", "source": "x"}
    unknown = service.http.post("/m/core/costs/imports", json=source, headers=headers)
    assert read_violations(unknown) == [("vendor", "one of aws, azure, gcp")]
