"""HTTP routes of the customer's accounts; paths are relative to /m/portal."""

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, get, put
from nimbill.portal.accounts import operations
from nimbill.portal.accounts.bodies import AccountName, NamedAccount
from nimbill.portal.report_parameters import CompanyId
from nimbill.portal.view import load_view


@get(
    "/accounts",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount, RoleAction.ReadGroups, RoleAction.ReadBudget],
    flag=None,
    basis=chosen("portal-accounts"),
)
async def list_portal_accounts(
    caller: RequestCaller, db: Transaction, company_id: CompanyId = None
) -> list[NamedAccount]:
    """List the accounts that the caller sees, by vendor and name."""
    view = await load_view(db, caller, company_id)
    return operations.list_visible_accounts(view)


@put(
    "/accounts/{customer_id:str}",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ModifySettings],
    flag="usage_account_menu_account_edit",
    basis=chosen("portal-accounts"),
    audited="acct/{customer_id}",
)
async def rename_account(
    customer_id: FromPath[str],
    data: JSONBody[AccountName],
    caller: RequestCaller,
    db: Transaction,
) -> NamedAccount:
    """Change the name under which reports and later invoices show an account."""
    return await operations.rename_visible_account(db, caller, customer_id, data.name)


ROUTES = [list_portal_accounts, rename_account]
