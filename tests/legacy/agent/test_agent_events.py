"""Reports of agents: a notice replaces an instance once, an error fails a layer in progress."""

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


def select(service: Service, table: sa.Table, **values: str) -> list[Any]:
    organisation_id = service.organisation.organisation_id

    async def fetch() -> list[Any]:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.select(table).where(
                table.c.organisation_id == organisation_id,
                *(table.c[name] == value for name, value in values.items()),
            )
            return list((await db.execute(stmt)).all())

    return service.run(fetch)


def read_status(service: Service, agent: AgentLogin) -> str:
    (stack,) = select(service, legacy_stacks, stack_id=agent.stack_id)
    return str(stack.stack_status)


def read_layers(service: Service, agent: AgentLogin) -> dict[str, tuple[str, str | None]]:
    rows = select(service, legacy_layers, stack_id=agent.stack_id)
    return {row.flag: (row.status, row.reason) for row in rows}


def create_idle_stack(service: Service) -> AgentLogin:
    agent = create_stack(service)
    set_stack_status(service, agent.stack_id, "CREATE_COMPLETE")
    return agent


def test_a_termination_notice_replaces_the_instance(service: Service) -> None:
    agent = create_idle_stack(service)
    instance_id = add_instance(service, agent)

    post_report(service, AGENT_STATUS, agent, status="spot_terminate", instance_id=instance_id)

    assert read_status(service, agent) == "UPDATE_IN_PROGRESS"
    assert read_layers(service, agent)["web"][0] == "updating"
    assert read_layers(service, agent)["db"][0] == "completed"
    (row,) = select(service, legacy_instances, instance_id=instance_id)
    assert row.state in (InstanceState.terminating, InstanceState.terminated)
    assert row.reason == "spot_terminate"
    assert select(service, jobs, kind="reconcile_stack", subject=agent.stack_id)


def test_the_instance_is_that_of_an_earlier_report_or_the_agent_itself(
    service: Service,
) -> None:
    earlier_reports: list[dict[str, Any]] = [{}, {"agent_id": "agent-2"}]
    for earlier in earlier_reports:
        agent = create_idle_stack(service)
        instance_id = add_instance(service, agent)
        ids = earlier or {"agent_id": instance_id}
        if earlier:
            post_report(service, AGENT_STATUS, agent, instance_id=instance_id, **ids)

        post_report(service, AGENT_STATUS, agent, status="spot_terminate", **ids)

        assert read_status(service, agent) == "UPDATE_IN_PROGRESS"


def test_a_notice_for_a_terminating_instance_changes_nothing(service: Service) -> None:
    for state in (InstanceState.terminating, InstanceState.terminated, InstanceState.failed):
        agent = create_idle_stack(service)
        instance_id = add_instance(service, agent, state=state)

        response = post_report(
            service, AGENT_STATUS, agent, status="spot_terminate", instance_id=instance_id
        )

        assert response.status_code == 202
        assert read_status(service, agent) == "CREATE_COMPLETE"


def test_a_notice_for_an_unknown_instance_changes_nothing(service: Service) -> None:
    agent = create_idle_stack(service)

    post_report(service, AGENT_STATUS, agent, status="spot_terminate", instance_id="i-unknown")

    assert read_status(service, agent) == "CREATE_COMPLETE"


def test_a_stack_that_is_being_deleted_replaces_nothing(service: Service) -> None:
    agent = create_idle_stack(service)
    instance_id = add_instance(service, agent)
    set_stack_status(service, agent.stack_id, "DELETE_IN_PROGRESS")

    post_report(service, AGENT_STATUS, agent, status="spot_terminate", instance_id=instance_id)

    (row,) = select(service, legacy_instances, instance_id=instance_id)
    assert row.reason is None


def test_an_error_fails_a_layer_in_progress_with_its_message(service: Service) -> None:
    agent = create_idle_stack(service)
    instance_id = add_instance(service, agent, layer="creating")

    fields: dict[str, Any] = {"instance_id": instance_id, "message": "no disk left"}
    post_report(service, AGENT_STATUS, agent, status="error", **fields)

    assert read_layers(service, agent) == {
        "web": ("failed", "no disk left"),
        "db": ("creating", None),
    }


def test_an_error_without_a_message_has_a_default_reason(service: Service) -> None:
    agent = create_idle_stack(service)
    instance_id = add_instance(service, agent, layer="updating")

    post_report(service, AGENT_STATUS, agent, status="error", instance_id=instance_id)

    assert read_layers(service, agent)["web"] == ("failed", "its agent reported an error")


def test_an_error_of_a_completed_layer_changes_nothing_else(
    service: Service,
) -> None:
    agent = create_idle_stack(service)
    instance_id = add_instance(service, agent)

    response = post_report(service, AGENT_STATUS, agent, status="error", instance_id=instance_id)

    assert response.json()["status"] == "error"
    assert read_layers(service, agent)["web"] == ("completed", None)


def test_other_reports_change_nothing(service: Service) -> None:
    agent = create_idle_stack(service)
    instance_id = add_instance(service, agent)

    for status in ("notice", "installing", "terminated"):
        post_report(service, AGENT_STATUS, agent, status=status, instance_id=instance_id)

    assert read_status(service, agent) == "CREATE_COMPLETE"
