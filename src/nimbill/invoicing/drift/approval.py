"""The approval of credit notes, also of those that settle late costs."""

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
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Violation, not_found, refuse_if
from nimbill.invoicing.corrections.records import DriftDecisionKind
from nimbill.invoicing.credit_notes.bodies import CreditNoteRequest
from nimbill.invoicing.credit_notes.corrections import correct_invoice_terms
from nimbill.invoicing.credit_notes.document import CreditNoteDocument
from nimbill.invoicing.credit_notes.operations import issue_note, load_note
from nimbill.invoicing.drift.bodies import DriftDecisionRequest
from nimbill.invoicing.drift.operations import decide

basis = chosen("approvals")

# given when the note is issued
_GIVEN_LATER = ("credit_note_id", "credit_note_no", "issue_date")


def _choose_body(target: Target) -> type[Any]:
    return DriftDecisionRequest if "import_id" in target else CreditNoteRequest


async def _issue(execution: Execution) -> PerformedOperation:
    target = execution.target
    period, company_id = BillingPeriod(target["month"], target["vendor"]), target["company_id"]
    if "import_id" in target:
        note = await _decide(execution, target["import_id"], company_id)
        action, resource = "decide_drift", f"costs/imports/{target['import_id']}/drift/{company_id}"
    else:
        note = await _issue_note(execution, period, company_id)
        action, resource = (
            "issue_credit_note",
            f"invoice/{period.month}/{company_id}/{period.vendor}",
        )
    if BillingPeriod(note.month, note.vendor) != period:
        raise not_found()
    shown = msgspec.structs.asdict(note)
    return PerformedOperation(
        review={name: value for name, value in shown.items() if name not in _GIVEN_LATER},
        action=action,
        resource=resource,
        company_ids=[company_id],
        result={"credit_note_id": note.credit_note_id, "credit_note_no": note.credit_note_no},
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


async def _decide(execution: Execution, import_id: str, company_id: str) -> CreditNoteDocument:
    """Other decisions about late costs issue no credit note and need no approval."""
    body = execution.body
    if body.decision is not DriftDecisionKind.credit_note:
        refuse_if([Violation("body.decision", DriftDecisionKind.credit_note.value)])
    decision = await decide(
        execution.db,
        execution.scope,
        import_id,
        company_id,
        body,
        by=execution.by,
        approved=execution.approved,
    )
    assert decision.credit_note_id is not None, "the decision is a credit note"
    return await load_note(execution.db, execution.scope, decision.credit_note_id)


ISSUE_CREDIT_NOTE = ApprovableOperation(
    kind=ApprovalKind.credit_note,
    role_actions=(RoleAction.ModifyInvoice,),
    choose_body=_choose_body,
    target_fields=frozenset({"month", "vendor", "company_id"}),
    optional_fields=frozenset({"import_id"}),
    is_shared=False,
    perform=_issue,
)
