"""The approval of invoices before they are sent, bound to their revisions."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, ClassVar

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.audit import records as audit
from nimbill.database.tenant_scope import Row
from nimbill.foundation import exact_json
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, refuse_if
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body
from nimbill.invoicing.documents.invoice_approvals import (
    add_invoice_approvals,
    list_reviewed_invoices,
)
from nimbill.invoicing.documents.replaced_invoices import load_import_replacements
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, lock_invoices
from nimbill.issuing.sending.bodies import SeenRevisions, find_revisions_violations


class InvoiceIssue(Body, frozen=True, kw_only=True):
    """The invoices of a month to approve: company_id to the current revision."""

    basis: ClassVar[Basis] = chosen("approved-invoices")

    vendor: BilledVendor
    revisions: SeenRevisions

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from find_revisions_violations(sent)


async def _approve_invoices(execution: Execution) -> PerformedOperation:
    """Whoever created a revision, or decided about the late costs in it, made what is reviewed."""
    db, scope, body = execution.db, execution.scope, execution.body
    period = BillingPeriod(execution.target["month"], body.vendor)
    company_ids = sorted(body.revisions)
    await lock_invoices(db, scope, period, company_ids)
    rows = await list_reviewed_invoices(db, scope, period, company_ids)
    if len(rows) < len(company_ids):
        refuse_if([Violation("body.revisions", "billing groups with an invoice")])
    _refuse_unfit(rows, body.revisions)
    imports = await load_import_replacements(db, scope, period, company_ids)
    resources = [
        f"costs/imports/{imports[each]}/drift/{each}"
        if each in imports
        else f"invoice/{period.month}/{each}/{period.vendor}"
        for each in company_ids
    ]
    entries = await audit.list_latest_entries(db, scope, resources)
    revisions = [(row.company_id, row.revision) for row in rows]
    await add_invoice_approvals(db, scope, period, revisions, execution.approved.approval_id)
    return PerformedOperation(
        review={
            "month": period.month,
            "vendor": period.vendor,
            "invoices": [_describe(period.month, row) for row in rows],
        },
        action="approve_invoices",
        resource=f"invoices/{period.month}/{period.vendor}/approval",
        company_ids=company_ids,
        makers={exact_json.decode_stored(row.entry)["actor"] for row in entries},
    )


def _refuse_unfit(rows: list[Row] | Any, revisions: Mapping[str, int]) -> None:
    """`field` holds the company_id, which the caller knows."""
    problems = [
        Violation(row.company_id, problem)
        for row in rows
        for problem, exists in (
            ("cancelled", row.cancelled_time is not None),
            ("already_sent", row.sent_time is not None and row.cancelled_time is None),
            ("revision_changed", row.revision != revisions[row.company_id]),
        )
        if exists
    ]
    if problems:
        raise Conflict(
            "not_ready",
            "Some invoices cannot be approved. Each violation names a billing group and its "
            "reason.",
            problems,
        )


def _describe(month: str, row: Row) -> dict[str, Any]:
    return {
        "invoice_no": format_invoice_no(month, row.number),
        "company_id": row.company_id,
        "billinggroup_id": row.billinggroup_id,
        "billinggroup_name": row.billinggroup_name,
        "revision": row.revision,
        "currency": row.currency,
        "pre_tax": row.pre_tax,
        "tax": row.tax,
        "total": row.total,
        "due_date": row.due_date,
        "digest": sha256(row.document.encode()).hexdigest(),
    }


APPROVE_INVOICES = ApprovableOperation(
    kind=ApprovalKind.invoice_issue,
    role_actions=(RoleAction.ModifyInvoice,),
    choose_body=lambda _: InvoiceIssue,
    target_fields=frozenset({"month"}),
    is_shared=False,
    perform=_approve_invoices,
)
