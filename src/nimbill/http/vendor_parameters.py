"""Refuses a vendor in a path or query that the caller's organisation does not bill."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from litestar import Request
from litestar.handlers import BaseRouteHandler
from msgspec import inspect

from nimbill.access.gate import MUTATING
from nimbill.access.request_context import Resources, get_request_context
from nimbill.foundation.errors import Violation, rule_violations_error
from nimbill.foundation.vendor_names import VendorRule
from nimbill.foundation.vendors import get_vendor_rule

PARAMETER = "vendor"


async def load_request_vendors(request: Request[Any, Any, Any]) -> Sequence[str]:
    """Load the vendors that the organisation bills; a change keeps them enabled until its end."""
    resources: Resources = request.app.state.resources
    context = get_request_context(request.scope)
    return await context.load_vendors(resources, lock=request.method in MUTATING)


async def refuse_disabled_vendor(request: Request[Any, Any, Any]) -> None:
    """Leave a missing or malformed vendor to the framework, which checks all parameters.

    All values of a query count, because the route may use another one than the first.
    """
    rule = _find_rule(request.route_handler)
    if rule is None:
        return
    vendors = await load_request_vendors(request)
    in_path = request.path_params.get(PARAMETER)
    sent = request.query_params.getall(PARAMETER, []) if in_path is None else [in_path]
    if not set(sent) <= set(rule.list_names(vendors)):
        raise rule_violations_error([Violation(PARAMETER, rule.describe(vendors))])


@cache
def _find_rule(route: BaseRouteHandler) -> VendorRule | None:
    """Return the rule of the route's vendor parameter, if it has one."""
    parameter = route.parsed_fn_signature.parameters.get(PARAMETER)
    if parameter is None:
        return None
    type_info = inspect.type_info(parameter.raw)
    members = type_info.types if isinstance(type_info, inspect.UnionType) else (type_info,)
    extras = [member.extra for member in members if isinstance(member, inspect.Metadata)]
    return next(filter(None, map(get_vendor_rule, extras)), None)
