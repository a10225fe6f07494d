"""The metrics of queue, imports, invoice runs, mail and database, over all organisations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nimbill.application import service_metrics
from nimbill.application.service_metrics import ServiceMetrics
from nimbill.database.embedded_postgres import Address, is_embedded, is_ready
from nimbill.database.tenant_scope import create_app_engine
from nimbill.foundation.metrics import GaugeValues
from nimbill.foundation.settings import read_settings
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql, temporary_database


@pytest.fixture(scope="module")
def database(postgres: Address, superuser: Address) -> Iterator[Address]:
    """A database of its own, because the metrics count the records of all organisations."""
    with temporary_database(postgres, superuser) as address:
        yield address


@pytest.fixture(scope="module")
def measured(database: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(database.url, tmp_path_factory.mktemp("measured")) as service:
        yield service


@pytest.fixture
def tables(database: Address, superuser: Address) -> Address:
    return replace(superuser, database=database.database)


def read_metrics(service: Service) -> dict[str, float]:
    """Every sample by its name and labels."""
    return parse_samples(service.read_metrics())


def parse_samples(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def add_job(tables: Address, service: Service, kind: str, job_id: str, **values: Any) -> None:
    """`due` and `leased` are seconds from now."""
    fields = {"state": "waiting", "due": 86_400, "leased": None, "attempts": 0} | values
    execute_sql(
        tables,
        "INSERT INTO jobs (organisation_id, job_id, kind, subject, payload, state, due, "
        "leased_until, attempts) VALUES ($1, $2, $3, $2, '{}', $4, "
        "now() + make_interval(secs => $5), now() + make_interval(secs => $6), $7)",
        service.organisation.organisation_id,
        job_id,
        kind,
        *fields.values(),
    )


def test_jobs_are_counted_by_lane_type_and_state(measured: Service, tables: Address) -> None:
    add_job(tables, measured, "import_costs", "later 1")
    add_job(tables, measured, "import_costs", "later 2")
    add_job(tables, measured, "import_costs", "under way", state="running", leased=600)
    add_job(tables, measured, "create_invoices", "gave up", state="failed", attempts=8)
    add_job(tables, measured, "type of another version", "unknown", attempts=1)
    add_job(tables, measured, "audit_checkpoint", "maintenance")

    samples = read_metrics(measured)

    def jobs(lane: str, kind: str, state: str) -> float:
        return samples[f'nimbill_jobs{{lane="{lane}",state="{state}",type="{kind}"}}']

    assert jobs("long", "import_costs", "scheduled") == 2
    assert jobs("long", "import_costs", "running") == 1
    assert jobs("long", "create_invoices", "failed") == 1
    assert jobs("short", "type of another version", "retrying") == 1
    assert jobs("short", "audit_checkpoint", "scheduled") == 1


def test_due_jobs_have_the_age_of_the_oldest(measured: Service, tables: Address) -> None:
    add_job(tables, measured, "export", "expired", state="running", due=3_600, leased=600)
    add_job(tables, measured, "export", "first", due=3_600)
    add_job(tables, measured, "export", "second", due=7_200)

    rows = execute_sql(
        tables,
        "SELECT * FROM count_service_records(now() + interval '2 hours 10 seconds') "
        "WHERE record = 'job' AND kind = 'export'",
    )

    ((state, number, seconds),) = [
        (row["state"], row["number"], row["due_seconds"]) for row in rows
    ]
    assert (state, number) == ("due", 3)
    assert 3_600 < seconds < 3_700


def test_messages_that_are_not_delivered_are_counted(measured: Service, tables: Address) -> None:
    add_job(tables, measured, "send_message", "message 1", attempts=3)
    add_job(tables, measured, "send_message", "message 2", state="failed", attempts=300)
    add_job(tables, measured, "send_message", "message 3", state="done")

    samples = read_metrics(measured)

    assert samples['nimbill_mails{state="retrying"}'] == 1
    assert samples['nimbill_mails{state="failed"}'] == 1
    assert 'nimbill_mails{state="done"}' not in samples


def test_imports_and_invoice_runs_are_counted_over_all_organisations(
    measured: Service, tables: Address
) -> None:
    for tenant in (measured.organisation, measured.new_organisation("Other")):
        for number, state in enumerate(("parked", "done", "done")):
            execute_sql(
                tables,
                "INSERT INTO cost_imports (organisation_id, import_id, vendor, sources, uploaded, "
                "state, created_by) VALUES ($1, $2, 'aws', '{}', false, $3, 'test')",
                tenant.organisation_id,
                f"import {number}",
                state,
            )
        execute_sql(
            tables,
            "INSERT INTO invoice_runs (organisation_id, run_id, month, vendor, groups_hash, state, "
            "job_id, company_ids, group_count) "
            "VALUES ($1, 'run', '2026-09', 'azure', '', 'running', 'job', '{cmp}', 1)",
            tenant.organisation_id,
        )

    samples = read_metrics(measured)

    assert samples['nimbill_imports{state="parked",vendor="aws"}'] == 2
    assert samples['nimbill_imports{state="done",vendor="aws"}'] == 4
    assert samples['nimbill_invoice_runs{state="running",vendor="azure"}'] == 2
    text = measured.read_metrics()
    assert measured.organisation.organisation_id not in text


def test_the_database_and_the_pool_are_described(measured: Service) -> None:
    samples = read_metrics(measured)

    assert samples["nimbill_database_up"] == 1
    assert samples["nimbill_database_bytes"] > 1_000_000
    assert (
        1 <= samples["nimbill_database_connections"] <= samples["nimbill_database_connections_max"]
    )
    assert samples['nimbill_database_pool_connections{state="limit"}'] == (
        2 * measured.settings.pool_size
    )
    for state in ("in_use", "idle"):
        assert samples[f'nimbill_database_pool_connections{{state="{state}"}}'] >= 0


def read_gauges(metrics: ServiceMetrics) -> dict[str, float]:
    async def render() -> bytes:
        try:
            return await metrics.render()
        finally:
            await metrics._engine.dispose()

    return parse_samples(asyncio.run(render()).decode())


def test_an_unavailable_database_is_reported_and_the_other_metrics_stay(tmp_path: Path) -> None:
    settings = read_settings({"NIMBILL_DATA": str(tmp_path)})
    engine = create_app_engine("postgresql://nobody:nothing@127.0.0.1:1/none")

    samples = read_gauges(ServiceMetrics(engine, settings, {}))

    assert samples["nimbill_database_up"] == 0
    assert not any(name.startswith("nimbill_jobs") for name in samples)


def test_the_state_of_the_embedded_database_is_reported(
    database: Address, postgres_folder: Path, measured: Service
) -> None:
    settings = replace(measured.settings, data=postgres_folder.parent, database_url=database.url)

    samples = read_gauges(ServiceMetrics(create_app_engine(database.url), settings, {}))

    assert samples["nimbill_embedded_database_ready"] == 1
    assert "nimbill_embedded_database_ready" not in read_metrics(measured)
    assert is_embedded(postgres_folder, database.url)
    assert not is_embedded(postgres_folder, "postgresql://nimbill:other@127.0.0.1/nimbill")
    assert is_ready(postgres_folder)


@pytest.fixture
def reads(measured: Service, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read and rendered; whatever was kept has expired."""
    metrics = measured.app.state.service_metrics
    reads = []

    async def read_database() -> list[GaugeValues]:
        reads.append("read")
        await asyncio.sleep(0)  # the other request runs until it waits
        return []

    def render(_gauges: Sequence[GaugeValues]) -> bytes:
        reads.append("rendered")
        return b"nothing"

    monkeypatch.setattr(metrics, "_read_database", read_database)
    monkeypatch.setattr(service_metrics, "render_metrics", render)
    monkeypatch.setattr(metrics, "cache_seconds", 60)
    monkeypatch.setattr(metrics, "_rendered_at", float("-inf"))
    return reads


def test_metrics_are_read_and_rendered_once_in_some_seconds(
    measured: Service, reads: list[str]
) -> None:
    for _ in range(3):
        assert measured.http.get("/metrics").text == "nothing"

    assert reads == ["read", "rendered"]


def test_simultaneous_requests_read_and_render_once(measured: Service, reads: list[str]) -> None:
    metrics = measured.app.state.service_metrics

    async def render_twice() -> None:
        await asyncio.gather(metrics.render(), metrics.render())

    measured.run(render_twice)

    assert reads == ["read", "rendered"]
