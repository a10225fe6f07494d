"""The invoices of a month: terms, exchange rates, creation, documents and files."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from nimbill_client.billing_groups import build_setting_body
from nimbill_client.bodies import (
    AccountTotalList,
    CreateInvoicesResponse,
    ExportUrl,
    InvoiceDocument,
    InvoiceList,
    InvoiceRevision,
    InvoiceRun,
    InvoiceSetting,
    InvoiceStatus,
    MarkedInvoices,
    MonthlyInvoiceSetting,
    RevisionComparison,
    SavedMonth,
    Success,
    SupportFeeTarget,
    TermsPreview,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor

INVOICE_PATH = "/m/core/invoices/{month}/{company_id}/{vendor}"
RUN_SECONDS_MAX = 3600
FILE_SECONDS_MAX = 600  # the service prints what is not printed yet

# By company_id and vendor.
MonthlySettings = Mapping[str, Mapping[BilledVendor, MonthlyInvoiceSetting]]


class Invoices:
    """A month is written as 2026-09, and a billing group is named by its `company_id`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_month(self, month: str) -> InvoiceList:
        """List every billing group with its terms and invoices, and the month's totals."""
        call = Call(method="GET", path="/m/core/invoices/{month}", ids={"month": month})
        return self._connection.fetch(InvoiceList, call)

    def read_totals(self, month: str) -> AccountTotalList:
        """Read the totals of each account and each billing group on created invoices."""
        call = Call(method="GET", path="/m/core/invoice/{month}/details", ids={"month": month})
        return self._connection.fetch(AccountTotalList, call)

    def save_settings(
        self, month: str, settings: MonthlySettings, *, key: str | None = None
    ) -> None:
        """Save terms that apply to this month only."""
        self._save_settings(month, {"settings": settings, "internal": False}, key)

    def save_default_settings(self, month: str, *, key: str | None = None) -> None:
        """Save the terms of each billing group as its terms of this month."""
        self._save_settings(month, {"settings": [], "internal": True}, key)

    def use_default_terms(
        self, month: str, company_id: str, vendor: BilledVendor, *, key: str | None = None
    ) -> None:
        """Copy the current terms of a billing group into an open month; rate and memo stay."""
        path = "/m/core/invoices/save/{month}/{company_id}/{vendor}"
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        self._connection.fetch(Success, Call(method="PUT", path=path, ids=ids, key=key))

    def list_saved_months(self, company_id: str, vendor: BilledVendor) -> list[SavedMonth]:
        """List the open months for which terms of a billing group are saved."""
        path = "/m/core/invoices/saved-months/{company_id}/{vendor}"
        call = Call(method="GET", path=path, ids={"company_id": company_id, "vendor": vendor})
        return self._connection.fetch(list[SavedMonth], call)

    def _save_settings(self, month: str, body: Mapping[str, object], key: str | None) -> None:
        path, ids = "/m/core/invoices/save/{month}", {"month": month}
        call = Call(method="PUT", path=path, ids=ids, body=body, key=key)
        self._connection.fetch(Success, call)

    def save_exchange_rate(
        self,
        month: str,
        vendor: BilledVendor,
        company_ids: Sequence[str],
        exchange_rate: Decimal,
        *,
        key: str | None = None,
    ) -> None:
        body = {
            "vendor": vendor,
            "billing_groups": company_ids,
            "exchange_rate": exchange_rate,
        }
        path, ids = "/m/core/invoices/exchangerate/{month}", {"month": month}
        call = Call(method="PUT", path=path, ids=ids, body=body, key=key)
        self._connection.fetch(Success, call)

    def preview_terms(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        setting: InvoiceSetting,
        *,
        support_fee_target: SupportFeeTarget | None = None,
    ) -> TermsPreview:
        """Calculate the month's invoice under other terms; nothing is stored."""
        call = Call(
            method="POST",
            path="/m/core/billinggroup/{company_id}/preview/{month}",
            ids={"company_id": company_id, "month": month},
            body=build_setting_body(vendor, setting, support_fee_target),
        )
        return self._connection.fetch(TermsPreview, call)

    def create(
        self,
        month: str,
        vendor: BilledVendor,
        company_ids: Sequence[str] = (),
        *,
        seconds_max: int = RUN_SECONDS_MAX,
        key: str | None = None,
    ) -> CreateInvoicesResponse:
        """Create the invoices of these groups, or of all that are ready, and wait for them.

        If the connection breaks, the repeated request waits for the same run. Raises Conflict with
        the reason of each group if none can be invoiced.
        """
        call = Call(
            method="POST",
            path="/m/core/invoices/calculation/{month}",
            ids={"month": month},
            body={"vendor": vendor, "group": company_ids, "bulk": not company_ids},
            seconds_max=seconds_max,
            key=key,
        )
        return self._connection.fetch(CreateInvoicesResponse, call)

    def list_runs(self, month: str) -> list[InvoiceRun]:
        """List the newest invoice runs with their progress."""
        call = Call(method="GET", path="/m/core/invoices/runs/{month}", ids={"month": month})
        return self._connection.fetch(list[InvoiceRun], call)

    def read(self, month: str, company_id: str, vendor: BilledVendor) -> InvoiceDocument:
        """Read an invoice: lines, totals, and the rule, base and sources of each amount."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(method="GET", path=INVOICE_PATH, ids=ids)
        return self._connection.fetch(InvoiceDocument, call)

    def list_revisions(
        self, month: str, company_id: str, vendor: BilledVendor
    ) -> list[InvoiceRevision]:
        """List earlier revisions of an invoice, the newest first."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(method="GET", path=f"{INVOICE_PATH}/revisions", ids=ids)
        return self._connection.fetch(list[InvoiceRevision], call)

    def read_revision(
        self, month: str, company_id: str, vendor: BilledVendor, revision: int
    ) -> InvoiceDocument:
        """Read one revision of an invoice, current or not."""
        ids = {
            "month": month,
            "company_id": company_id,
            "vendor": vendor,
            "revision": str(revision),
        }
        call = Call(method="GET", path=f"{INVOICE_PATH}/revisions/{{revision}}", ids=ids)
        return self._connection.fetch(InvoiceDocument, call)

    def read_state(self, month: str, company_id: str, vendor: BilledVendor) -> InvoiceStatus:
        """Show whether an invoice was sent, when and by whom."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(method="GET", path=f"{INVOICE_PATH}/state", ids=ids)
        return self._connection.fetch(InvoiceStatus, call)

    def mark_as_sent(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        revision: int,
        *,
        key: str | None = None,
    ) -> InvoiceStatus:
        """Mark the current revision as sent; the invoice cannot be created again after that."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        body = {"revision": revision}
        call = Call(method="PUT", path=f"{INVOICE_PATH}/sent", ids=ids, body=body, key=key)
        return self._connection.fetch(InvoiceStatus, call)

    def mark_all_as_sent(
        self,
        month: str,
        vendor: BilledVendor,
        revisions: Mapping[str, int],
        *,
        key: str | None = None,
    ) -> MarkedInvoices:
        """Mark the current revisions as sent, all or none; `revisions` are by company_id."""
        body = {"vendor": vendor, "revisions": revisions}
        path = "/m/core/invoices/{month}/sent"
        call = Call(method="PUT", path=path, ids={"month": month}, body=body, key=key)
        return self._connection.fetch(MarkedInvoices, call)

    def cancel(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        reason: str,
        *,
        key: str | None = None,
    ) -> InvoiceStatus:
        """Cancel a sent invoice, which keeps its number; this cannot be undone."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        body = {"reason": reason}
        call = Call(method="PUT", path=f"{INVOICE_PATH}/cancelled", ids=ids, body=body, key=key)
        return self._connection.fetch(InvoiceStatus, call)

    def compare_revisions(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        revision: int,
        *,
        before: int | None = None,
    ) -> RevisionComparison:
        """Compare a revision with the one before, or with another one."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(
            method="GET",
            path=f"{INVOICE_PATH}/revisions/{{revision}}/comparison",
            ids={**ids, "revision": str(revision)},
            query={"before": before},
        )
        return self._connection.fetch(RevisionComparison, call)

    def download_pdf(
        self, month: str, company_id: str, vendor: BilledVendor | None, file: Path
    ) -> Path:
        """Write an invoice as PDF; without a vendor, the covering page of all its invoices."""
        path, ids = "/m/core/invoices/{month}/{company_id}/pdf", {"company_id": company_id}
        if vendor is not None:
            path, ids = f"{INVOICE_PATH}/pdf", {**ids, "vendor": vendor}
        call = Call(
            method="GET", path=path, ids={**ids, "month": month}, seconds_max=FILE_SECONDS_MAX
        )
        return self._connection.download(call, file)

    def download_zip(self, month: str, file: Path, vendor: BilledVendor | None = None) -> Path:
        """Write all invoices of the month as PDF files in one archive."""
        call = Call(
            method="GET",
            path="/m/core/invoices/{month}/zip",
            ids={"month": month},
            query={"vendor": vendor},
            seconds_max=FILE_SECONDS_MAX,
        )
        return self._connection.download(call, file)

    def export_accounts_csv(self, month: str, file: Path) -> Path:
        """Write the month's invoices by account to a CSV file."""
        return self._export("/m/core/export/csv/invoice_account/{month}", month, file)

    def export_tags_csv(self, month: str, file: Path) -> Path:
        """Write the month's invoices by tag to a CSV file."""
        return self._export("/m/core/export/csv/invoice_tag/{month}", month, file)

    def _export(self, path: str, month: str, file: Path) -> Path:
        call = Call(method="POST", path=path, ids={"month": month}, seconds_max=FILE_SECONDS_MAX)
        return self._connection.download_link(self._connection.fetch(ExportUrl, call).url, file)
