"""A month's invoices over HTTP; paths are relative to /m/core."""

from hashlib import sha256
from typing import Any, Literal

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.request_context import RequestContext, get_request_context
from nimbill.access.role_actions import RoleAction
from nimbill.costs.months.closed_month import MonthChange
from nimbill.database.list_query import ListQuery
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.idempotency import ReservedKey
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    Limit,
    Offset,
    PathMonth,
    PathRevision,
    RequestCaller,
    Transaction,
    WorkerResources,
    describe_actor,
    get,
    post,
    put,
)
from nimbill.invoicing.documents.bodies import (
    AccountTotalList,
    CreateInvoicesRequest,
    CreateInvoicesResponse,
    InvoiceList,
    InvoiceRevision,
    InvoiceRun,
    SavedExchangeRate,
    SavedMonth,
    SaveExchangeRateRequest,
    SaveSettingsRequest,
)
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.runs import invoice_list, month_settings, month_terms, operations, records

InvoiceSort = Literal[
    "billinggroup_id",
    "-billinggroup_id",
    "billinggroup_name",
    "-billinggroup_name",
    "name",
    "-name",
    "project_code",
    "-project_code",
    "invoice_no",
    "-invoice_no",
    "sales",
    "-sales",
]
READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
CHANGE = [RoleAction.ModifyInvoice]
# settings of 5,000 groups for two vendors, with spaces and short memos
SETTINGS_BYTES_MAX = 12 << 20


@get(
    "/invoice/{month:str}/details",
    audiences=[Audience.core],
    role_actions=READ,
    basis=stated("Invoices"),
)
async def list_account_totals(
    month: PathMonth, caller: RequestCaller, db: Transaction
) -> AccountTotalList:
    """List the totals of each account and each billing group on created invoices."""
    return await invoice_list.load_account_totals(db, caller.scope, month)


@get(
    "/invoices/{month:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-paths"),
    counted=True,
)
async def list_invoices(
    month: PathMonth,
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[InvoiceSort | None] = None,
    invoiced: FromQuery[bool | None] = None,
) -> InvoiceList:
    """List every billing group with its created, saved and default data, and the month's totals.

    `invoiced` selects the groups with or without an invoice. `search` looks in invoice_no,
    company_id, billinggroup_id, billinggroup_name and name. `total` covers all pages of the
    selection. `sales` sorts by the amount before tax, in yen at the rate of each invoice.
    """
    query = ListQuery(limit, offset, search, sort)
    listed, total = await invoice_list.load_invoice_list(
        db, caller.scope, month, query, invoiced=invoiced
    )
    report_total(total)
    return listed


@put(
    "/invoices/save/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited="invoices/{month}/settings",
    request_max_body_size=SETTINGS_BYTES_MAX,
    changes=Changes.billing_groups,
    closed_month=MonthChange.save_terms,
)
async def save_invoice_settings(
    month: PathMonth,
    data: JSONBody[SaveSettingsRequest],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Save the settings of a month: those sent, or the default settings of every group."""
    await operations.save_invoice_settings(db, caller.scope, month, data)
    return Success()


@put(
    "/invoices/save/{month:str}/{company_id:str}/{vendor:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("terms-of-open-months"),
    audited="invoices/{month}/settings/{company_id}/{vendor}",
    changes=Changes.billing_groups,
    closed_month=MonthChange.use_default_terms,
)
async def use_default_terms(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Copy the current default terms of a group into an open month; rate and memo stay."""
    period = BillingPeriod(month, vendor)
    await month_terms.use_default_terms(db, caller.scope, period, company_id)
    return Success()


@get(
    "/invoices/saved-months/{company_id:str}/{vendor:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("terms-of-open-months"),
)
async def list_saved_months(
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> list[SavedMonth]:
    """List the open months for which terms of a group are saved, the newest first."""
    return await month_terms.list_saved_months(db, caller.scope, company_id, vendor)


async def _save_rates(
    month: str, data: SaveExchangeRateRequest, caller: RequestCaller, db: Transaction
) -> Success:
    await operations.save_exchange_rates(db, caller.scope, month, data, saved_by=caller.username)
    return Success()


@put(
    "/invoices/exchangerate/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited="invoices/{month}/exchangerate",
    changes=Changes.billing_groups,
    closed_month=MonthChange.save_rates,
)
async def save_exchange_rates(
    month: PathMonth,
    data: JSONBody[SaveExchangeRateRequest],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Save the month's exchange rate of these groups for one vendor."""
    return await _save_rates(month, data, caller, db)


@post(
    "/invoices/exchangerate/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited="invoices/{month}/exchangerate",
    changes=Changes.billing_groups,
    closed_month=MonthChange.save_rates,
)
async def save_exchange_rates_by_post(
    month: PathMonth,
    data: JSONBody[SaveExchangeRateRequest],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """The same operation for clients that send POST."""
    return await _save_rates(month, data, caller, db)


@get(
    "/invoices/exchangerate/{month:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("saved-exchange-rates"),
)
async def list_exchange_rates(
    month: PathMonth,
    caller: RequestCaller,
    db: Transaction,
    vendor: FromQuery[BilledVendor | None] = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> list[SavedExchangeRate]:
    """List the saved exchange rates of a month, with who saved each and when."""
    return await month_settings.list_rates(
        db, caller.scope, month, vendor=vendor, limit=limit, offset=offset
    )


@post(
    "/invoices/calculation/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited=Unaudited("the run writes an audit entry for each invoice and one for itself"),
    changes=Changes.billing_groups,
    closed_month=MonthChange.create_invoices,
)
async def create_invoices(
    month: PathMonth,
    data: JSONBody[CreateInvoicesRequest],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    request: Request[Any, Any, Any],
) -> CreateInvoicesResponse:
    """Create the invoices of these groups, or of all that are ready; responds when it is done."""
    context = get_request_context(request.scope)
    actor = describe_actor(request, caller)
    run_id = await operations.start_invoice_run(
        db, caller.scope, month, data, actor=actor, key_hash=_hash_key(context, caller.user_id)
    )
    await context.pause()
    response = await operations.wait_for_run(
        resources.engine, resources.hooks.run_job_now, caller.scope, run_id
    )
    await context.resume(resources.engine)
    return response


def _hash_key(context: RequestContext, user_id: str) -> bytes | None:
    """Hash the idempotency key: a request repeated after a crash finds its run by this hash."""
    reserved_key = context.idempotency
    if not isinstance(reserved_key, ReservedKey):
        return None
    parts = [user_id.encode(), reserved_key.key.encode(), reserved_key.request_hash]
    return sha256(b"\0".join(parts)).digest()


@get(
    "/invoices/runs/{month:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-runs"),
)
async def list_invoice_runs(
    month: PathMonth, caller: RequestCaller, db: Transaction
) -> list[InvoiceRun]:
    """List the newest invoice runs of a month with their progress."""
    return await records.list_runs(db, caller.scope, month)


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-document"),
)
async def read_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> InvoiceDocument:
    """Read an invoice: lines, totals, and the rule, base and sources of each amount."""
    period = BillingPeriod(month, vendor)
    revisions = await operations.load_revisions(db, caller.scope, period, company_id)
    return decode_document(revisions[0].document)


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/revisions",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-document"),
)
async def list_invoice_revisions(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> list[InvoiceRevision]:
    """List earlier revisions of an invoice, the newest first."""
    period = BillingPeriod(month, vendor)
    revisions = await operations.load_revisions(db, caller.scope, period, company_id)
    return [
        InvoiceRevision(
            revision=row.revision,
            create_time=clock.format_timestamp(row.create_time),
            invoice=decode_document(row.document),
        )
        for row in revisions[1:]
    ]


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/revisions/{revision:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-document"),
)
async def read_invoice_revision(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    revision: PathRevision,
    caller: RequestCaller,
    db: Transaction,
) -> InvoiceDocument:
    """Read one revision of an invoice, current or not."""
    period = BillingPeriod(month, vendor)
    (row,) = await operations.load_revisions(
        db, caller.scope, period, company_id, revision=int(revision)
    )
    return decode_document(row.document)


ROUTES = [
    list_account_totals,
    list_invoices,
    save_invoice_settings,
    use_default_terms,
    list_saved_months,
    save_exchange_rates,
    save_exchange_rates_by_post,
    list_exchange_rates,
    create_invoices,
    list_invoice_runs,
    read_invoice,
    list_invoice_revisions,
    read_invoice_revision,
]
