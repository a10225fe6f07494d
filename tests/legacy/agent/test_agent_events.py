"""What a report sets in motion: a replacement, once, or the failure of a layer on its way."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.jobs.records import jobs
from nimbill.legacy.provisioning.instance_plan import InstanceState
from nimbill.legacy.provisioning.records import legacy_instances
from nimbill.legacy.stacks.records import legacy_layers, legacy_stacks
from tests.legacy.agent.agent_requests import AGENT_STATUS, add_instance, create_stack, post_report
from tests.legacy.agents import AgentLogin, set_stack_status
from tests.running_service import Service


def stored(service: Service, table: sa.Table, **which: str) -> list[Any]:
    organisation_id = service.organisation.organisation_id

    async def ask() -> list[Any]:
        async with transaction(service.resources.engine, organisation_id) as db:
            question = sa.select(table).where(
                table.c.organisation_id == organisation_id,
                *(table.c[name] == value for name, value in which.items()),
            )
            return list((await db.execute(question)).all())

    return service.run(ask)


def status_of(service: Service, agent: AgentLogin) -> str:
    (stack,) = stored(service, legacy_stacks, stack_id=agent.stack_id)
    return str(stack.stack_status)


def list_layers(service: Service, agent: AgentLogin) -> dict[str, tuple[str, str | None]]:
    rows = stored(service, legacy_layers, stack_id=agent.stack_id)
    return {row.flag: (row.status, row.reason) for row in rows}


def settled_stack(service: Service) -> AgentLogin:
    agent = create_stack(service)
    set_stack_status(service, agent.stack_id, "CREATE_COMPLETE")
    return agent


def test_a_notice_of_termination_has_the_instance_replaced(service: Service) -> None:
    agent = settled_stack(service)
    instance_id = add_instance(service, agent)

    post_report(service, AGENT_STATUS, agent, status="spot_terminate", instance_id=instance_id)

    assert status_of(service, agent) == "UPDATE_IN_PROGRESS"
    assert list_layers(service, agent)["web"][0] == "updating"
    assert list_layers(service, agent)["db"][0] == "completed"
    (row,) = stored(service, legacy_instances, instance_id=instance_id)
    assert row.state in (InstanceState.terminating, InstanceState.terminated)
    assert row.reason == "spot_terminate"
    assert stored(service, jobs, kind="reconcile_stack", subject=agent.stack_id)


def test_the_agent_is_known_by_the_instance_it_named_before_or_by_its_own_id(
    service: Service,
) -> None:
    both: list[dict[str, Any]] = [{}, {"agent_id": "named before"}]
    for said in both:
        agent = settled_stack(service)
        instance_id = add_instance(service, agent)
        who = said or {"agent_id": instance_id}
        if said:
            post_report(service, AGENT_STATUS, agent, instance_id=instance_id, **who)

        post_report(service, AGENT_STATUS, agent, status="spot_terminate", **who)

        assert status_of(service, agent) == "UPDATE_IN_PROGRESS"


def test_the_notice_of_an_instance_that_is_going_already_moves_nothing(service: Service) -> None:
    for state in (InstanceState.terminating, InstanceState.terminated, InstanceState.failed):
        agent = settled_stack(service)
        instance_id = add_instance(service, agent, state=state)

        answer = post_report(
            service, AGENT_STATUS, agent, status="spot_terminate", instance_id=instance_id
        )

        assert answer.status_code == 202
        assert status_of(service, agent) == "CREATE_COMPLETE"


def test_the_notice_of_an_instance_nobody_knows_moves_nothing(service: Service) -> None:
    agent = settled_stack(service)

    post_report(service, AGENT_STATUS, agent, status="spot_terminate", instance_id="i-nobody-knows")

    assert status_of(service, agent) == "CREATE_COMPLETE"


def test_a_stack_that_leaves_replaces_nothing(service: Service) -> None:
    agent = settled_stack(service)
    instance_id = add_instance(service, agent)
    set_stack_status(service, agent.stack_id, "DELETE_IN_PROGRESS")

    post_report(service, AGENT_STATUS, agent, status="spot_terminate", instance_id=instance_id)

    (row,) = stored(service, legacy_instances, instance_id=instance_id)
    assert row.reason is None


def test_an_error_fails_a_layer_that_is_on_its_way_with_what_was_said(service: Service) -> None:
    agent = settled_stack(service)
    instance_id = add_instance(service, agent, layer="creating")

    said: dict[str, Any] = {"instance_id": instance_id, "message": "no disk left"}
    post_report(service, AGENT_STATUS, agent, status="error", **said)

    assert list_layers(service, agent) == {
        "web": ("failed", "no disk left"),
        "db": ("creating", None),
    }


def test_an_error_without_a_word_has_a_reason_too(service: Service) -> None:
    agent = settled_stack(service)
    instance_id = add_instance(service, agent, layer="updating")

    post_report(service, AGENT_STATUS, agent, status="error", instance_id=instance_id)

    assert list_layers(service, agent)["web"] == ("failed", "its agent reported an error")


def test_an_error_after_the_layer_is_completed_is_recorded_and_moves_nothing(
    service: Service,
) -> None:
    agent = settled_stack(service)
    instance_id = add_instance(service, agent)

    answer = post_report(service, AGENT_STATUS, agent, status="error", instance_id=instance_id)

    assert answer.json()["status"] == "error"
    assert list_layers(service, agent)["web"] == ("completed", None)


def test_an_ordinary_report_moves_nothing(service: Service) -> None:
    agent = settled_stack(service)
    instance_id = add_instance(service, agent)

    for status in ("notice", "installing", "terminated"):
        post_report(service, AGENT_STATUS, agent, status=status, instance_id=instance_id)

    assert status_of(service, agent) == "CREATE_COMPLETE"
