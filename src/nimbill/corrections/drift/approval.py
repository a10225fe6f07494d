"""The approval of whatever takes back a sent invoice: credit notes, replacing and cancelling it.

Some of them settle late costs.
"""

from typing import Any

import msgspec

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
    Target,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.corrections.drift.bodies import DriftDecisionRequest
from nimbill.corrections.drift.operations import decide
from nimbill.corrections.replacements.bodies import ReplacementRequest
from nimbill.corrections.replacements.operations import replace_invoice
from nimbill.corrections.replacements.review import review_cancellation, review_replacement
from nimbill.credit_notes.bodies import CreditNoteRequest
from nimbill.credit_notes.corrected_invoices.late_costs import load_drift_import
from nimbill.credit_notes.corrected_invoices.records import DriftDecisionKind
from nimbill.credit_notes.corrections import correct_invoice_terms
from nimbill.credit_notes.document import CreditNoteDocument
from nimbill.credit_notes.operations import issue_note, load_note
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Violation, not_found, refuse_if
from nimbill.issuing.sending.bodies import CancelledInvoiceRequest
from nimbill.issuing.sending.operations import cancel

# given when the note is issued
_GIVEN_LATER = ("credit_note_id", "credit_note_no", "issue_date")
_OPERATIONS: dict[str, type[Any]] = {
    "replacement": ReplacementRequest,
    "cancellation": CancelledInvoiceRequest,
}
_DECISIONS = (DriftDecisionKind.credit_note, DriftDecisionKind.replacement)


def _choose_body(target: Target) -> type[Any]:
    operation = target.get("operation")
    if operation is not None and operation not in _OPERATIONS:
        refuse_if([Violation("target.operation", " or ".join(_OPERATIONS))])
    if "import_id" in target:
        if operation is not None:
            refuse_if([Violation("target.operation", "not with import_id")])
        return DriftDecisionRequest
    return CreditNoteRequest if operation is None else _OPERATIONS[operation]


async def _perform(execution: Execution) -> PerformedOperation:
    target = execution.target
    period, company_id = BillingPeriod(target["month"], target["vendor"]), target["company_id"]
    if "import_id" in target:
        return await _decide(execution, period, target["import_id"], company_id)
    resource = f"invoice/{period.month}/{company_id}/{period.vendor}"
    given = {"reason": execution.body.reason, "by": execution.by, "approved": execution.approved}
    where = (execution.db, execution.scope, period, company_id)
    match target.get("operation"):
        case "replacement":
            status = await replace_invoice(*where, **given)
            return PerformedOperation(
                review=await review_replacement(*where, execution.body.reason),
                action="replace_invoice",
                resource=resource,
                company_ids=[company_id],
                result={"invoice_no": status.invoice_no},
            )
        case "cancellation":
            await cancel(*where, **given)
            return PerformedOperation(
                review=await review_cancellation(*where, execution.body.reason),
                action="cancel_invoice",
                resource=resource,
                company_ids=[company_id],
            )
    return PerformedOperation(
        action="issue_credit_note",
        resource=resource,
        company_ids=[company_id],
        **_show_note(await _issue_note(execution, period, company_id)),
    )


async def _issue_note(
    execution: Execution, period: BillingPeriod, company_id: str
) -> CreditNoteDocument:
    db, scope, body = execution.db, execution.scope, execution.body
    if body.terms is not None:
        return await correct_invoice_terms(
            db,
            scope,
            period,
            company_id,
            body.terms,
            reason=body.reason,
            by=execution.by,
            approved=execution.approved,
        )
    return await issue_note(
        db, scope, period, company_id, body, by=execution.by, approved=execution.approved
    )


def _show_note(note: CreditNoteDocument) -> dict[str, Any]:
    shown = msgspec.structs.asdict(note)
    return {
        "review": {name: value for name, value in shown.items() if name not in _GIVEN_LATER},
        "result": {"credit_note_id": note.credit_note_id, "credit_note_no": note.credit_note_no},
    }


async def _decide(
    execution: Execution, period: BillingPeriod, import_id: str, company_id: str
) -> PerformedOperation:
    """Other decisions change no sent document and need no approval."""
    db, scope, body = execution.db, execution.scope, execution.body
    if body.decision not in _DECISIONS:
        refuse_if([Violation("body.decision", " or ".join(_DECISIONS))])
    _, month = await load_drift_import(db, scope, import_id)
    if month != period:
        raise not_found()
    decision = await decide(
        db, scope, import_id, company_id, body, by=execution.by, approved=execution.approved
    )
    shown: dict[str, Any]
    if decision.credit_note_id is not None:
        shown = _show_note(await load_note(db, scope, decision.credit_note_id))
    else:
        shown = {
            "review": await review_replacement(db, scope, period, company_id, body.reason),
            "result": {"invoice_no": decision.replacement_no},
        }
    return PerformedOperation(
        action="decide_drift",
        resource=f"costs/imports/{import_id}/drift/{company_id}",
        company_ids=[company_id],
        **shown,
    )


CREDIT_INVOICE = ApprovableOperation(
    kind=ApprovalKind.credit_note,
    role_actions=(RoleAction.ModifyInvoice,),
    choose_body=_choose_body,
    target_fields=frozenset({"month", "vendor", "company_id"}),
    optional_fields=frozenset({"import_id", "operation"}),
    is_shared=False,
    perform=_perform,
)
