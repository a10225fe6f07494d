"""Records of version 3: stacks and what hangs on them."""

from __future__ import annotations

from nimbill import clock
from nimbill.ids import new_id
from tests.contract.tenants import Tenant


def add_stack(tenant: Tenant) -> tuple[str, str]:
    """One that stands still; its id and the name of its deployment."""
    stack_id, deployment, at = new_id("stk"), tenant.word("d"), clock.now()
    tenant.add(
        "legacy_stacks",
        stack_id=stack_id,
        nickname=tenant.word("n"),
        deployment=deployment,
        provisioner="local",
        region="ap-northeast-1",
        stack_status="CREATE_COMPLETE",
        version_id=new_id("ver"),
        user_id=tenant.organisation.root_user_id,
        username="root",
        token_hash=b"none",
        create_time=at,
        update_time=at,
    )
    tenant.add("directory", kind="stack", key=stack_id)
    return stack_id, deployment


def make_deployment(tenant: Tenant) -> str:
    return add_stack(tenant)[1]
