"""Every route declares its basis, audience, role actions and what it audits."""

from string import Formatter
from typing import get_args

from nimbill.access.gate import Audience, Public, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import Basis
from tests.contract.declared_routes import all_routes


def test_routes_declare_basis_audiences_and_role_actions() -> None:
    for route in all_routes():
        facts = route.handler.opt
        assert isinstance(facts["basis"], Basis), route
        assert all(isinstance(action, RoleAction) for action in facts["role_actions"]), route
        if route.is_public:
            assert isinstance(facts["audiences"], Public)
            assert not facts["role_actions"], f"{route} is public and has role actions"
        else:
            assert facts["audiences"], f"{route} has no audience"
            assert all(isinstance(audience, Audience) for audience in facts["audiences"]), route
            assert RoleAction.Admin not in facts["role_actions"], f"{route}: Admin is implied"


def test_audited_resource_names_can_be_formatted() -> None:
    """Each name in braces is a path parameter or a field of the response or the body."""
    for route in all_routes():
        if not route.is_mutating or isinstance(route.handler.opt["audited"], Unaudited):
            continue
        names = {name for _, name, _, _ in Formatter().parse(route.handler.opt["audited"]) if name}
        response = route.handler.parsed_fn_signature.return_type.annotation
        known = set(route.path_names) | set(getattr(route.body, "__struct_fields__", ()))
        for type_ in get_args(response) or (response,):
            known |= set(getattr(type_, "__struct_fields__", ()))

        assert names <= known, route


def test_routes_that_only_read_are_not_audited() -> None:
    assert not [
        route for route in all_routes() if not route.is_mutating and "audited" in route.handler.opt
    ]
