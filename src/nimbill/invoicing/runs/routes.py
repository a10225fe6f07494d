"""A month's invoices over HTTP; paths are relative to /m/core."""

from hashlib import sha256
from typing import Any

from litestar import Request
from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Unaudited
from nimbill.access.request_context import RequestContext, request_context_of
from nimbill.access.role_actions import RoleAction
from nimbill.foundation import clock, exact_json
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import not_found
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.idempotency import HeldKey
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    CallerOfRequest,
    MonthOfPath,
    ResourcesOfWorker,
    Transaction,
    get,
    post,
    put,
)
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.bodies import (
    AccountTotals,
    ExchangeRateToSave,
    InvoiceList,
    InvoiceRun,
    InvoicesCreated,
    InvoicesToCreate,
    Revision,
    SettingsToSave,
)
from nimbill.invoicing.documents.document import InvoiceDocument, read
from nimbill.invoicing.runs import invoice_list, operations, records

READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
CHANGE = [RoleAction.ModifyInvoice]


@get(
    "/invoice/{month:str}/details",
    audiences=[Audience.core],
    role_actions=READ,
    basis=stated("Invoices"),
)
async def list_account_totals(
    month: MonthOfPath, caller: CallerOfRequest, db: Transaction
) -> AccountTotals:
    """What each account and each billing group owes, of created invoices."""
    return await invoice_list.account_totals(db, caller.scope, month)


@get(
    "/invoices/{month:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-paths"),
)
async def list_invoices(
    month: MonthOfPath, caller: CallerOfRequest, db: Transaction
) -> InvoiceList:
    """Every billing group with what was made, saved and set for it, and the month's totals."""
    return await invoice_list.invoice_list(db, caller.scope, month)


@put(
    "/invoices/save/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited="invoices/{month}/settings",
)
async def save_invoice_settings(
    month: MonthOfPath, data: JSONBody[SettingsToSave], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Save the settings of a month, those sent or every group's own."""
    await operations.save_invoice_settings(db, caller.scope, month, data)
    return Success()


async def _save_rates(
    month: str, data: ExchangeRateToSave, caller: CallerOfRequest, db: Transaction
) -> Success:
    await operations.save_exchange_rates(db, caller.scope, month, data)
    return Success()


@put(
    "/invoices/exchangerate/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited="invoices/{month}/exchangerate",
)
async def save_exchange_rates(
    month: MonthOfPath, data: JSONBody[ExchangeRateToSave], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Save the month's exchange rate of these groups, for one vendor."""
    return await _save_rates(month, data, caller, db)


@post(
    "/invoices/exchangerate/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited="invoices/{month}/exchangerate",
)
async def save_exchange_rates_by_post(
    month: MonthOfPath, data: JSONBody[ExchangeRateToSave], caller: CallerOfRequest, db: Transaction
) -> Success:
    """The same, for clients that post."""
    return await _save_rates(month, data, caller, db)


@post(
    "/invoices/calculation/{month:str}",
    audiences=[Audience.core],
    role_actions=CHANGE,
    basis=chosen("invoice-paths"),
    audited=Unaudited("every invoice leaves a row of its own, and the run that makes them one"),
)
async def create_invoices(
    month: MonthOfPath,
    data: JSONBody[InvoicesToCreate],
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
    request: Request[Any, Any, Any],
) -> InvoicesCreated:
    """Make the invoices of these groups, or of all that are ready; answers when it is done."""
    visit = request_context_of(request.scope)
    actor = {
        "actor": caller.user_id,
        "actor_name": caller.username,
        "client_id": caller.client_id,
        "request_id": visit.request_id,
    }
    run_id = await operations.ask_for_invoices(
        db, caller.scope, month, data, actor=actor, key_hash=_key_hash(visit, caller.user_id)
    )
    await visit.pause()
    made = await operations.finished_run(resources.engine, resources.do_now, caller.scope, run_id)
    await visit.go_on(resources.engine)
    return made


def _key_hash(visit: RequestContext, user_id: str) -> bytes | None:
    """A repeat after a crash finds its run by this, where no answer was kept yet."""
    held = visit.idempotency
    if not isinstance(held, HeldKey):
        return None
    return sha256(b"\0".join([user_id.encode(), held.key.encode(), held.fingerprint])).digest()


@get(
    "/invoices/runs/{month:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-runs"),
)
async def list_invoice_runs(
    month: MonthOfPath, caller: CallerOfRequest, db: Transaction
) -> list[InvoiceRun]:
    """The newest runs that made invoices of a month, and how far they are."""
    rows = await records.runs_of_month(db, caller.scope, month)
    found = []
    for row in rows:
        skipped = None if row.skipped is None else exact_json.read_own(row.skipped)
        progress = row.progress or {}
        found.append(
            InvoiceRun(
                run_id=row.run_id,
                month=row.month,
                vendor=row.vendor,
                state=row.state,
                groups=row.groups,
                done=progress.get("done", 0) if skipped is None else row.groups,
                skipped=progress.get("skipped", 0) if skipped is None else len(skipped),
                create_time=clock.written(row.create_time),
            )
        )
    return found


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("one-invoice"),
)
async def read_invoice(
    month: MonthOfPath,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: CallerOfRequest,
    db: Transaction,
) -> InvoiceDocument:
    """One invoice: every line, every total, and for each amount its rule, base and source."""
    rows = await stored_invoices.revisions_of(db, caller.scope, month, vendor, company_id)
    if not rows:
        raise not_found()
    return read(rows[0].document)


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/revisions",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("one-invoice"),
)
async def list_invoice_revisions(
    month: MonthOfPath,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: CallerOfRequest,
    db: Transaction,
) -> list[Revision]:
    """Earlier invoices of the same number, unchanged, the newest first."""
    rows = await stored_invoices.revisions_of(db, caller.scope, month, vendor, company_id)
    if not rows:
        raise not_found()
    return [
        Revision(
            revision=row.revision,
            create_time=clock.written(row.create_time),
            invoice=read(row.document),
        )
        for row in rows[1:]
    ]


ROUTES = [
    list_account_totals,
    list_invoices,
    save_invoice_settings,
    save_exchange_rates,
    save_exchange_rates_by_post,
    create_invoices,
    list_invoice_runs,
    read_invoice,
    list_invoice_revisions,
]
