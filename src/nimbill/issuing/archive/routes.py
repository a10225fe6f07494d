"""The archive of issued documents over HTTP; paths are relative to /m/core."""

from typing import Annotated, Any, Literal

from litestar import Request
from litestar.params import FromQuery, QueryParameter
from litestar.response import Stream

from nimbill.access.caller import Caller
from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.database.list_query import ListQuery
from nimbill.foundation import calendar_date
from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.routing import Limit, Offset, RequestCaller, Transaction, WorkerResources, get
from nimbill.http.temporary_files import send_written_file
from nimbill.invoicing.pdf.printing import pause_for_printing
from nimbill.issuing.archive import records
from nimbill.issuing.archive.archive_file import write_archive
from nimbill.issuing.archive.bodies import (
    ArchivedDocument,
    ArchiveKey,
    DocumentKind,
    DocumentState,
)
from nimbill.issuing.archive.document_filter import (
    AMOUNT_PATTERN,
    AMOUNT_RULE,
    parse_filter,
)
from nimbill.issuing.archive.signature import (
    ALGORITHM,
    compute_fingerprint,
    derive_signing_key,
    encode_public_key,
)

READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
ZIP = "application/zip"

QueryDate = Annotated[
    str | None, QueryParameter(pattern=calendar_date.PATTERN, description=calendar_date.RULE)
]
QueryAmount = Annotated[str | None, QueryParameter(pattern=AMOUNT_PATTERN, description=AMOUNT_RULE)]
DocumentSort = Literal[
    "issue_date", "-issue_date", "total", "-total", "counterparty", "-counterparty"
]


@get(
    "/archive",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("document-archive"),
    counted=True,
)
async def list_archived_documents(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    date_from: QueryDate = None,
    date_to: QueryDate = None,
    amount_from: QueryAmount = None,
    amount_to: QueryAmount = None,
    currency: FromQuery[Currency | None] = None,
    counterparty: Search = None,
    document_kind: FromQuery[DocumentKind | None] = None,
    document_state: Annotated[DocumentState | None, QueryParameter(name="state")] = None,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[DocumentSort | None] = None,
) -> list[ArchivedDocument]:
    """List invoices and credit notes, the newest first, by any combination of the filters.

    Dates are issue dates, amounts include tax, and both ends of a range are included.
    `counterparty` looks in the name on the document and in the group's present names and ids,
    `search` in the number and the name on the document.
    """
    selected = parse_filter(
        date_from=date_from,
        date_to=date_to,
        amount_from=amount_from,
        amount_to=amount_to,
        currency=currency,
        counterparty=counterparty,
        kind=document_kind,
        state=document_state,
        search=search,
    )
    query = ListQuery(limit, offset, sort=sort)
    documents, total = await records.list_documents(db, caller.scope, selected, query)
    report_total(total)
    return documents


@get(
    "/archive/zip",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("document-archive"),
    media_type=ZIP,
)
async def export_archive(
    caller: RequestCaller,
    resources: WorkerResources,
    request: Request[Any, Any, Any],
    date_from: QueryDate = None,
    date_to: QueryDate = None,
    amount_from: QueryAmount = None,
    amount_to: QueryAmount = None,
    currency: FromQuery[Currency | None] = None,
    counterparty: Search = None,
    document_kind: FromQuery[DocumentKind | None] = None,
    document_state: Annotated[DocumentState | None, QueryParameter(name="state")] = None,
    search: Search = None,
) -> Stream:
    """Export the same documents with their PDF files, signed; `nimbill archive verify` checks it.

    The file has the audit log of the organisation if the caller may read all of it: with the
    permission ReadAudit, and without a restriction to billing groups.
    """
    selected = parse_filter(
        date_from=date_from,
        date_to=date_to,
        amount_from=amount_from,
        amount_to=amount_to,
        currency=currency,
        counterparty=counterparty,
        kind=document_kind,
        state=document_state,
        search=search,
    )
    printer = await pause_for_printing(request)
    return await send_written_file(
        request,
        resources.settings.data,
        lambda file: write_archive(
            printer,
            resources.encryptor,
            caller.scope,
            selected,
            file,
            with_audit_log=_may_read_audit_log(caller),
        ),
        name="archive.zip",
        media_type=ZIP,
    )


def _may_read_audit_log(caller: Caller) -> bool:
    return caller.scope.billing_groups is None and caller.may([RoleAction.ReadAudit])


@get(
    "/archive/key",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("document-archive"),
)
async def get_archive_key(resources: WorkerResources) -> ArchiveKey:
    """Get the public key that verifies exports, and its fingerprint."""
    public_key = encode_public_key(derive_signing_key(resources.encryptor).public_key())
    return ArchiveKey(
        algorithm=ALGORITHM,
        public_key=public_key,
        fingerprint=compute_fingerprint(public_key),
    )


ROUTES = [list_archived_documents, export_archive, get_archive_key]
