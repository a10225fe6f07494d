"""HTTP routes of the fees; paths are relative to /m/portal."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience, FlagByParameter
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.portal.fees.bodies import CustomerFees, FeeKind
from nimbill.portal.fees.operations import load_fees
from nimbill.portal.report_months import list_report_months
from nimbill.portal.report_parameters import CompanyId, Month
from nimbill.portal.view import load_view


@get(
    "/fees",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag=FlagByParameter(
        "kind",
        {
            FeeKind.fee: "usage_account_menu_fees_fee",
            FeeKind.credit: "usage_account_menu_fees_credit",
            FeeKind.refund: "usage_account_menu_fees_refund",
            FeeKind.other: "usage_account_menu_fees_other_fees",
        },
    ),
    basis=chosen("portal-fees"),
)
async def list_fees(
    caller: RequestCaller,
    db: Transaction,
    kind: FromQuery[FeeKind],
    month: Month = None,
    company_id: CompanyId = None,
) -> CustomerFees:
    """List the one-off charges or credits that are applied to a month."""
    (only,) = list_report_months(month, None, None)
    return await load_fees(db, await load_view(db, caller, company_id), only, kind)


ROUTES = [list_fees]
