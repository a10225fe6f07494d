"""The routes for PDF files: one invoice, a cover page, a month as zip."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal

import pypdf
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.invoicing.pdf import rendering
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.problem_responses import read_problem


def invoiced(month_end: MonthEnd, **fields: object) -> str:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A, **fields)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    assert month_end.create_invoices(group).status_code == 200
    return group


def text_of(pdf: bytes) -> str:
    return "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


def test_an_invoice_is_a_pdf_with_its_total(month_end: MonthEnd) -> None:
    group = invoiced(month_end, language="en")

    response = month_end.service.http.get(
        f"/m/core/invoices/{MONTH}/{group}/aws/pdf", headers=month_end.service.root()
    )

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/pdf"
    assert response.headers["content-disposition"] == 'inline; filename="202609-0001-aws.pdf"'
    assert "190,472" in text_of(response.content)


def test_a_stored_pdf_is_returned_unchanged(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = invoiced(month_end)
    path = f"/m/core/invoices/{MONTH}/{group}/aws/pdf"
    headers = month_end.service.root()
    first = month_end.service.http.get(path, headers=headers).content
    monkeypatch.setattr(rendering, "render_invoice", lambda _document: b"a later layout")

    again = month_end.service.http.get(path, headers=headers).content

    assert again == first


def test_a_new_revision_is_rendered_again(month_end: MonthEnd) -> None:
    group = invoiced(month_end)
    path = f"/m/core/invoices/{MONTH}/{group}/aws/pdf"
    headers = month_end.service.root()
    first = month_end.service.http.get(path, headers=headers).content
    month_end.save_settings(group, discount_rate=Decimal(0))
    month_end.create_invoices(group)

    again = month_end.service.http.get(path, headers=headers).content

    assert "190,472" in text_of(first)
    assert "190,472" not in text_of(again)


def test_groups_with_inv_aggregate_have_a_cover_page(month_end: MonthEnd) -> None:
    group = invoiced(month_end, inv_aggregate=True, language="en")

    response = month_end.service.http.get(
        f"/m/core/invoices/{MONTH}/{group}/pdf", headers=month_end.service.root()
    )

    assert response.status_code == 200
    assert text_of(response.content).count("202609-0001") > 1


def test_groups_without_inv_aggregate_have_no_cover_page(month_end: MonthEnd) -> None:
    group = invoiced(month_end, inv_aggregate=False)

    read_problem(month_end.get(f"/invoices/{MONTH}/{group}/pdf"), 404)


def test_a_month_can_be_downloaded_as_zip(month_end: MonthEnd) -> None:
    groups = [month_end.create_group(f"BG-{n}", f"00000000000{n}") for n in range(1, 4)]
    month_end.import_costs(
        *(report_line("10", UsageAccountId=f"00000000000{n}") for n in range(1, 4))
    )
    month_end.prepare_groups(*groups)
    month_end.create_invoices()
    restricted = month_end.service.caller(RoleAction.ReadInvoice, billing_groups=groups[:1])

    def names(headers: dict[str, str]) -> list[str]:
        response = month_end.service.http.get(f"/m/core/invoices/{MONTH}/zip", headers=headers)
        assert response.status_code == 200
        with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
            assert archive.testzip() is None
            return archive.namelist()

    everything = names(month_end.service.root())
    assert everything == [f"202609-000{n}-aws.pdf" for n in range(1, 4)]
    assert len(names(restricted)) == 1
