"""A stack on AWS waits while the server lacks the extra that launches its instances."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation import extras
from nimbill.legacy.stacks.records import legacy_stacks
from tests.jobs.conftest import FrozenClock, JobDatabase
from tests.legacy.provisioning.test_reconciler import FakeProvisioner, ReconciledStack


def test_a_stack_on_aws_says_what_the_operator_must_install_and_is_tried_again(
    job_db: JobDatabase, frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    stack = ReconciledStack(job_db, FakeProvisioner())
    stack.apply(instance_count=1)

    async def move_to_aws(db: AsyncConnection) -> None:
        ours = legacy_stacks.c.stack_id == stack.stack_id
        await db.execute(sa.update(legacy_stacks).where(ours).values(provisioner="aws"))

    job_db.in_transaction(move_to_aws)
    stack.run_passes()

    reason = "The operator of the server must install nimbill[aws]."
    assert stack.stack == ("CREATE_IN_PROGRESS", reason)
    (due,) = stack.next_passes
    assert due > frozen_clock.at
