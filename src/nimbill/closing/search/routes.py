"""The search over HTTP; paths are relative to /m/core."""

from typing import Annotated

from litestar.params import QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.closing.search import records
from nimbill.closing.search.bodies import SearchResult
from nimbill.closing.search.invoice_number_rules import parse_invoice_number
from nimbill.foundation.basis import chosen
from nimbill.http.list_parameters import SEARCH_LENGTH_MAX
from nimbill.http.routing import RequestCaller, Transaction, get

READ_GROUPS = [RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup]
READ_ACCOUNTS = [RoleAction.ReadAccount, RoleAction.ModifyAccount]
READ_INVOICES = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]


@get(
    "/search",
    audiences=[Audience.core],
    role_actions=[*READ_GROUPS, *READ_ACCOUNTS, *READ_INVOICES],
    basis=chosen("search"),
)
async def search(
    caller: RequestCaller,
    db: Transaction,
    q: Annotated[
        str,
        QueryParameter(
            min_length=1,
            max_length=SEARCH_LENGTH_MAX,
            pattern=r"^[^\x00]*$",
            description=f"a text of 1 to {SEARCH_LENGTH_MAX} characters",
        ),
    ],
) -> SearchResult:
    """Find billing groups, accounts and invoices, at most ten of each, in any letter case.

    Groups are found by company_id, billinggroup_id and names, accounts by number and name,
    invoices by number (`202609-0012`, `202609` or `12`).
    """
    text, scope = q.strip() or q, caller.scope
    named = parse_invoice_number(text) if caller.may(READ_INVOICES) else None
    return SearchResult(
        billing_groups=await records.find_groups(db, scope, text)
        if caller.may(READ_GROUPS)
        else [],
        accounts=await records.find_accounts(db, scope, text) if caller.may(READ_ACCOUNTS) else [],
        invoices=[] if named is None else await records.find_invoices(db, scope, named),
    )


ROUTES = [search]
