"""The operations that can be requested and approved, one for each kind."""

from collections.abc import Mapping

from nimbill.approvals.approvable_operation import ApprovableOperation
from nimbill.closing.steps.approval import CLOSE_MONTH, REOPEN_MONTH
from nimbill.corrections.drift.approval import CREDIT_INVOICE
from nimbill.customers.invoice_templates.approval import SAVE_INVOICE_TEMPLATE
from nimbill.customers.organisation_settings.approval import CHANGE_SETTINGS
from nimbill.imports.approval import RELEASE_IMPORT
from nimbill.invoicing.runs.approval import SAVE_RATES
from nimbill.issuing.sending.approval import APPROVE_INVOICES

APPROVABLE_OPERATIONS: Mapping[str, ApprovableOperation] = {
    operation.kind: operation
    for operation in (
        APPROVE_INVOICES,
        CREDIT_INVOICE,
        CLOSE_MONTH,
        REOPEN_MONTH,
        RELEASE_IMPORT,
        SAVE_RATES,
        CHANGE_SETTINGS,
        SAVE_INVOICE_TEMPLATE,
    )
}
