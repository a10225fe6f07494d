"""The preview of terms over HTTP; paths are relative to /m/core."""

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups.operations import InvoiceSettingUpdate
from nimbill.foundation.basis import chosen
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, post
from nimbill.invoicing.preview import operations
from nimbill.invoicing.preview.bodies import TermsPreview


@post(
    "/billinggroup/{company_id:str}/preview/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=chosen("terms-preview"),
    audited=Unaudited("nothing is stored"),
    changes=Changes.billing_groups,
)
async def preview_terms(
    company_id: FromPath[str],
    month: PathMonth,
    data: JSONBody[InvoiceSettingUpdate],
    caller: RequestCaller,
    db: Transaction,
) -> TermsPreview:
    """Calculate a month's invoice under these terms and under the saved ones; store nothing.

    The body is that of updating the invoice setting of the group. Costs, entries, items and the
    exchange rate are those stored for the month.
    """
    return await operations.preview_terms(db, caller.scope, company_id, month, data)


ROUTES = [preview_terms]
