"""The routes for PDF files: one invoice, a cover page, a month as zip."""

from __future__ import annotations

import asyncio
import io
import zipfile
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.invoicing.pdf import compiler_pool
from nimbill.invoicing.pdf.compiler_pool import CompilerPool
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.invoicing.pdf.pdf_text import extract_text
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import run_concurrently


def invoiced(month_end: MonthEnd, **fields: object) -> str:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A, **fields)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    assert month_end.create_invoices(group).status_code == 200
    return group


@dataclass(frozen=True)
class ThreeGroups:
    """Tests that change nothing share these groups."""

    month_end: MonthEnd
    organisation: NewOrganisation
    groups: list[str]
    numbers: list[str]  # of the account of each group

    def get(self, path: str, groups: list[str] | None = None) -> httpx.Response:
        """Send the request of a user who is restricted to these groups, or of the root user."""
        service, organisation = self.month_end.service, self.organisation
        headers = (
            service.root(organisation)
            if groups is None
            else service.caller(
                RoleAction.ReadInvoice, organisation=organisation, billing_groups=groups
            )
        )
        return self.month_end.get(path, headers)

    def download(self, path: str, groups: list[str] | None = None) -> httpx.Response:
        return self.get(f"/invoices/{MONTH}/{path}", groups)


def test_an_invoice_is_a_pdf_with_its_total(month_end: MonthEnd) -> None:
    group = invoiced(month_end, language="en")

    response = month_end.service.http.get(
        f"/m/core/invoices/{MONTH}/{group}/aws/pdf", headers=month_end.service.root()
    )

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/pdf"
    assert response.headers["content-disposition"] == 'inline; filename="202609-0001-aws.pdf"'
    assert "190,472" in extract_text(response.content)


def test_a_stored_pdf_is_returned_unchanged(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = invoiced(month_end)
    path = f"/m/core/invoices/{MONTH}/{group}/aws/pdf"
    headers = month_end.service.root()
    first = month_end.service.http.get(path, headers=headers).content

    async def compile_other(*_: object, **__: object) -> bytes:
        return b"a later layout"

    monkeypatch.setattr(CompilerPool, "compile", compile_other)

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

    assert "190,472" in extract_text(first)
    assert "190,472" not in extract_text(again)


def test_groups_with_inv_aggregate_have_a_cover_page(month_end: MonthEnd) -> None:
    group = invoiced(month_end, inv_aggregate=True, language="en")

    response = month_end.service.http.get(
        f"/m/core/invoices/{MONTH}/{group}/pdf", headers=month_end.service.root()
    )

    assert response.status_code == 200
    assert extract_text(response.content).count("202609-0001") > 1


def test_groups_without_inv_aggregate_have_no_cover_page(month_end: MonthEnd) -> None:
    group = invoiced(month_end, inv_aggregate=False)

    read_problem(month_end.get(f"/invoices/{MONTH}/{group}/pdf"), 404)


@pytest.fixture(scope="module")
def three_groups(running: Service, tmp_path_factory: pytest.TempPathFactory) -> ThreeGroups:
    """An organisation with three invoiced groups, which are named in English."""
    running.organisation = running.new_organisation()
    month_end = MonthEnd(running, tmp_path_factory.mktemp("costs"))
    numbers = [f"00000000000{n}" for n in range(1, 4)]
    groups = [
        month_end.create_group(f"BG-{n}", n, company_name=f"company {n}", language="en")
        for n in numbers
    ]
    month_end.import_costs(*(report_line("10", UsageAccountId=n) for n in numbers))
    month_end.prepare_groups(*groups)
    assert month_end.create_invoices().status_code == 200
    return ThreeGroups(month_end, running.organisation, groups, numbers)


def read_archive(response: httpx.Response) -> dict[str, str]:
    """Return the text of each file by its name."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        return {name: extract_text(archive.read(name)) for name in archive.namelist()}


def test_a_month_can_be_downloaded_as_zip(three_groups: ThreeGroups) -> None:
    files = read_archive(three_groups.download("zip"))

    assert list(files) == [f"202609-000{n}-aws.pdf" for n in range(1, 4)]
    for number, text in zip(three_groups.numbers, files.values(), strict=True):
        assert f"company {number}" in text
        assert f"account {number}" in text


def test_the_zip_of_a_restricted_user_has_only_the_invoices_of_visible_groups(
    three_groups: ThreeGroups,
) -> None:
    files = read_archive(three_groups.download("zip", three_groups.groups[:1]))

    (text,) = files.values()
    seen, *hidden = three_groups.numbers
    assert f"company {seen}" in text
    assert not any(number in text for number in hidden)


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("2026-08/zip", "No invoice was created for this month."),
        ("2026-09/zip?vendor=azure", "No invoice of this vendor was created for this month."),
    ],
)
def test_a_month_or_vendor_without_invoices_has_no_zip(
    three_groups: ThreeGroups, path: str, detail: str
) -> None:
    """An empty archive would look as if the invoices had been printed."""
    response = three_groups.get(f"/invoices/{path}")

    problem = read_problem(response, 404)
    assert (problem["code"], problem["detail"]) == ("no_invoices", detail)


def test_a_user_who_sees_no_invoice_gets_no_zip(three_groups: ThreeGroups) -> None:
    """The same answer as for a month without invoices."""
    hidden = three_groups.download("zip", ["cmp_without_invoices"])
    unknown = three_groups.get("/invoices/2026-08/zip")

    problems = [read_problem(response, 404) for response in (hidden, unknown)]
    assert problems[0] | {"instance": None} == problems[1] | {"instance": None}


@pytest.mark.parametrize("path", ["{group}/aws/pdf", "{group}/pdf", "zip"])
def test_no_database_connection_is_held_while_a_pdf_is_compiled(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    group = invoiced(month_end, inv_aggregate=True)
    pool: Any = month_end.service.resources.engine.pool

    async def wait_for_free_pool(*_: object, **__: object) -> bytes:
        async with asyncio.timeout(60):
            while pool.checkedout():  # jobs of the service use one for moments
                await asyncio.sleep(0.001)
        return b"%PDF-test"

    monkeypatch.setattr(CompilerPool, "compile", wait_for_free_pool)

    response = month_end.get(f"/invoices/{MONTH}/{path.format(group=group)}")

    assert response.status_code == 200, response.text


def test_concurrent_requests_compile_a_document_once(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = invoiced(month_end)
    compiled: list[str] = []

    async def compile_slowly(_: object, organisation_id: str, *__: object, **___: object) -> bytes:
        compiled.append(organisation_id)
        await asyncio.sleep(0.2)
        return b"%PDF-test"

    monkeypatch.setattr(CompilerPool, "compile", compile_slowly)
    path, headers = f"/invoices/{MONTH}/{group}/aws/pdf", month_end.service.root()

    responses = run_concurrently([lambda: month_end.get(path, headers)] * 4)

    assert [response.status_code for response in responses] == [200] * 4
    assert compiled == [month_end.service.organisation.organisation_id]


def test_an_invoice_that_exceeds_the_limits_is_unavailable_and_stored_later(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = invoiced(month_end)
    path = f"/invoices/{MONTH}/{group}/aws/pdf"
    with monkeypatch.context() as limits:
        limits.setattr(compiler_pool, "SECONDS_MAX", 0.001)
        refused = month_end.get(path)

    assert read_problem(refused, 503)["code"] == "pdf_limits"
    assert int(refused.headers["retry-after"]) > 0
    assert month_end.get(path).status_code == 200
