"""Corrections of invoices: by other terms, by late costs of a closed month, by a replacement."""

from collections.abc import Mapping

from nimbill_client.billing_groups import build_setting_body
from nimbill_client.bodies import (
    CorrectionPreview,
    CreditNoteDocument,
    DriftDecision,
    DriftOfGroup,
    InvoiceSetting,
    InvoiceStatus,
    SupportFeeTarget,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor

INVOICE_PATH = "/m/core/invoices/{month}/{company_id}/{vendor}"
DRIFT_PATH = "/m/core/costs/imports/{import_id}/drift"


class Corrections:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def preview_terms(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        setting: InvoiceSetting,
        *,
        support_fee_target: SupportFeeTarget | None = None,
    ) -> CorrectionPreview:
        """Recalculate an invoice under other terms; nothing is stored."""
        terms = build_setting_body(vendor, setting, support_fee_target)
        body = {"import_id": None, "one_off_lines": False, "terms": terms}
        return self._preview(month, company_id, vendor, body)

    def preview_late_costs(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        import_id: str,
        *,
        one_off_lines: bool = False,
    ) -> CorrectionPreview:
        """Recalculate an invoice with the costs of a late import; nothing is stored."""
        body = {"import_id": import_id, "one_off_lines": one_off_lines, "terms": None}
        return self._preview(month, company_id, vendor, body)

    def _preview(
        self, month: str, company_id: str, vendor: BilledVendor, body: Mapping[str, object]
    ) -> CorrectionPreview:
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        path = f"{INVOICE_PATH}/correction-preview"
        call = Call(method="POST", path=path, ids=ids, body=body)
        return self._connection.fetch(CorrectionPreview, call)

    def credit_terms(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        setting: InvoiceSetting,
        reason: str,
        *,
        support_fee_target: SupportFeeTarget | None = None,
        key: str | None = None,
    ) -> CreditNoteDocument:
        """Issue the credit note that corrects a sent invoice to one under other terms."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        body = {
            "kind": "correction",
            "reason": reason,
            "lines": None,
            "amounts": None,
            "terms": build_setting_body(vendor, setting, support_fee_target),
        }
        path = f"{INVOICE_PATH}/credit-notes"
        call = Call(method="POST", path=path, ids=ids, body=body, key=key)
        return self._connection.fetch(CreditNoteDocument, call)

    def replace(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        reason: str,
        *,
        key: str | None = None,
    ) -> InvoiceStatus:
        """Replace a sent invoice of an open month by a new one with a number of its own."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        path, body = f"{INVOICE_PATH}/replacement", {"reason": reason}
        call = Call(method="POST", path=path, ids=ids, body=body, key=key)
        return self._connection.fetch(InvoiceStatus, call)

    def list_late_costs(self, import_id: str) -> list[DriftOfGroup]:
        """List the customers with late costs in an import, and what was decided about each."""
        call = Call(method="GET", path=DRIFT_PATH, ids={"import_id": import_id})
        return self._connection.fetch(list[DriftOfGroup], call)

    def decide(
        self,
        import_id: str,
        company_id: str,
        decision: str,
        reason: str,
        *,
        entry_month: str | None = None,
        one_off_lines: bool = False,
        key: str | None = None,
    ) -> DriftDecision:
        """Decide about the late costs of a customer, once; an entry needs an open month."""
        body = {
            "decision": decision,
            "reason": reason,
            "entry_month": entry_month,
            "one_off_lines": one_off_lines,
        }
        ids = {"import_id": import_id, "company_id": company_id}
        path = f"{DRIFT_PATH}/{{company_id}}"
        call = Call(method="POST", path=path, ids=ids, body=body, key=key)
        return self._connection.fetch(DriftDecision, call)
