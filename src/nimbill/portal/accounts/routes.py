"""HTTP routes of the customer's accounts; paths are relative to /m/portal."""

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, put
from nimbill.portal.accounts import operations
from nimbill.portal.accounts.bodies import AccountName, NamedAccount


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


ROUTES = [rename_account]
