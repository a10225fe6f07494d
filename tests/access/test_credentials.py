"""Who a verified token stands for: what the row of the database allows, and what it refuses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nimbill.access import credentials
from nimbill.access.caller import Caller
from nimbill.access.credentials import load_caller
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import Claims
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import PORTAL_USER_KINDS, UserKind

EPOCH = 3


def load(
    monkeypatch: pytest.MonkeyPatch,
    kind: UserKind,
    product: Product = Product.core,
    *,
    epoch: int = EPOCH,
    groups: list[str] | None = None,
    company_id: str | None = None,
) -> Caller | None:
    """With a row as the database returns it for a user who may read invoices."""
    row = ("name", kind, "usr_root", epoch, [RoleAction.ReadInvoice], groups, company_id, None)

    async def fetch_row(*_: Any) -> Any:
        return row

    monkeypatch.setattr(credentials, "fetch_row", fetch_row)
    claims = Claims(
        product=product,
        kid="key_1",
        organisation_id="org_1",
        user_id="usr_1",
        client_id="cl_1",
        subject_type="client",
        epoch=EPOCH,
        issued_at=0,
        expires_at=0,
        family_id=None,
    )
    return asyncio.run(load_caller(None, claims))  # type: ignore[arg-type]


def test_root_has_all_permissions_and_sees_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = load(monkeypatch, UserKind.root, groups=["bg_1"])

    assert caller is not None
    assert caller.permissions == {RoleAction.Admin}
    assert caller.scope.billing_groups is None


@pytest.mark.parametrize("groups", [None, ["bg_1", "bg_2"], []])
def test_a_subuser_has_its_permissions_and_its_groups(
    monkeypatch: pytest.MonkeyPatch, groups: list[str] | None
) -> None:
    caller = load(monkeypatch, UserKind.subuser, groups=groups)

    assert caller is not None
    assert caller.permissions == {RoleAction.ReadInvoice}
    assert caller.scope.billing_groups == (None if groups is None else set(groups))


@pytest.mark.parametrize("epoch", [EPOCH - 1, EPOCH + 1])
def test_a_token_ends_with_its_credentials(monkeypatch: pytest.MonkeyPatch, epoch: int) -> None:
    assert load(monkeypatch, UserKind.root, epoch=epoch) is None


@pytest.mark.parametrize("kind", PORTAL_USER_KINDS)
def test_a_user_of_the_portal_sees_one_group_there_and_nothing_elsewhere(
    monkeypatch: pytest.MonkeyPatch, kind: UserKind
) -> None:
    caller = load(monkeypatch, kind, Product.portal, groups=["bg_2"], company_id="bg_1")

    assert caller is not None
    assert caller.scope.billing_groups == frozenset({"bg_1"})
    assert load(monkeypatch, kind, Product.core, company_id="bg_1") is None
    assert load(monkeypatch, kind, Product.portal, company_id=None) is None
