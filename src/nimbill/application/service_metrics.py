"""Metrics that are read when somebody asks for them: queue, imports, invoice runs, mail, database.

They count the records of all organisations and name none of them. The result is kept for some
seconds, because /metrics needs no token and must load neither the database nor the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from nimbill.database.embedded_postgres import is_embedded, is_ready
from nimbill.database.tenant_scope import Row, is_database_unavailable
from nimbill.foundation import clock
from nimbill.foundation.metrics import GaugeValues, render_metrics, report_pool
from nimbill.foundation.settings import Settings
from nimbill.jobs.runner import SHORT
from nimbill.mail.delivery import SEND_MESSAGE

CACHE_SECONDS = 5.0
TIMEOUT_SECONDS = 4.0
POOL_SECONDS = 1.0

_RECORD_COLUMNS = ("record", "kind", "state", "number", "due_seconds")
_COUNTS = sa.select(
    sa.func.count_service_records(
        sa.bindparam("at", type_=sa.DateTime(timezone=True))
    ).table_valued(*_RECORD_COLUMNS)
)
_connections = sa.table("pg_stat_activity", sa.column("datname"))
_DATABASE = sa.select(
    sa.func.pg_database_size(sa.func.current_database()).label("bytes"),
    sa.select(sa.func.count())
    .where(_connections.c.datname == sa.func.current_database())
    .scalar_subquery()
    .label("connections"),
    sa.cast(sa.func.current_setting("max_connections"), sa.Integer).label("connections_max"),
)

log = structlog.get_logger()


class ServiceMetrics:
    """Reads the gauges from the database and renders all metrics, at most once in some seconds."""

    def __init__(self, engine: AsyncEngine, settings: Settings, lanes: Mapping[str, str]) -> None:
        self._engine = engine
        self._settings = settings
        self._lanes = lanes  # by job type
        self._lock = asyncio.Lock()
        self._rendered = b""
        self._rendered_at = float("-inf")
        self.cache_seconds = CACHE_SECONDS

    async def render(self) -> bytes:
        """If the database is unavailable, only its state is read from it.

        Rendering takes a tenth of a second if all routes have been used, so others wait for one
        result, and a thread renders it.
        """
        async with self._lock:
            if time.monotonic() - self._rendered_at >= self.cache_seconds:
                gauges = [*await self._read_database(), *await self._read_embedded()]
                self._rendered = await asyncio.to_thread(render_metrics, gauges)
                self._rendered_at = time.monotonic()
            return self._rendered

    async def _read_database(self) -> list[GaugeValues]:
        up = GaugeValues("nimbill_database_up", "Whether the database responds.")
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), self._engine.connect() as db:
                counts = (await db.execute(_COUNTS, {"at": clock.now()})).all()
                database = (await db.execute(_DATABASE)).one()
        except Exception as error:
            if not is_database_unavailable(error):
                log.error("metrics_failed", exc_info=error)
            up.add(value=0)
            return [up]
        up.add(value=1)
        return [up, *_describe_database(database), *build_record_gauges(counts, self._lanes)]

    async def _read_embedded(self) -> list[GaugeValues]:
        folder = self._settings.data / "postgres"
        if not is_embedded(folder, self._settings.database_url or ""):
            return []
        ready = GaugeValues(
            "nimbill_embedded_database_ready", "Whether the embedded PostgreSQL accepts logins."
        )
        ready.add(value=int(await asyncio.to_thread(is_ready, folder)))
        return [ready]


def _describe_database(database: Row) -> list[GaugeValues]:
    size = GaugeValues("nimbill_database_bytes", "Size of the database.")
    size.add(value=database.bytes)
    connections = GaugeValues(
        "nimbill_database_connections", "Connections of all programs to this database."
    )
    connections.add(value=database.connections)
    limit = GaugeValues("nimbill_database_connections_max", "The server's max_connections.")
    limit.add(value=database.connections_max)
    return [size, connections, limit]


def build_record_gauges(counts: Sequence[Row], lanes: Mapping[str, str]) -> list[GaugeValues]:
    jobs = GaugeValues(
        "nimbill_jobs",
        "Jobs by state: due, running, scheduled for later, retrying later, failed.",
        ["lane", "type", "state"],
    )
    age = GaugeValues(
        "nimbill_job_due_seconds",
        "How long the oldest job that is due has been waiting.",
        ["lane", "type"],
    )
    mails = GaugeValues("nimbill_mails", "Messages that are not delivered, by state.", ["state"])
    imports = GaugeValues("nimbill_imports", "Imports by state.", ["vendor", "state"])
    runs = GaugeValues("nimbill_invoice_runs", "Invoice runs by state.", ["vendor", "state"])
    for row in counts:
        if row.record == "import":
            imports.add(row.kind, row.state, value=row.number)
        elif row.record == "invoice_run":
            runs.add(row.kind, row.state, value=row.number)
        else:
            # the short lane also takes jobs of unknown types
            lane = lanes.get(row.kind, SHORT)
            jobs.add(lane, row.kind, row.state, value=row.number)
            if row.state == "due":
                age.add(lane, row.kind, value=row.due_seconds)
            if row.kind == SEND_MESSAGE:
                mails.add(row.state, value=row.number)
    return [jobs, age, mails, imports, runs]


async def report_pool_regularly(engine: AsyncEngine, stopping: asyncio.Event) -> None:
    """Store the pool's state every second: each worker has a pool, and one of them is asked."""
    pool = engine.pool
    assert isinstance(pool, QueuePool)
    limit = pool.size() + pool._max_overflow
    while not stopping.is_set():
        report_pool(in_use=pool.checkedout(), idle=pool.checkedin(), limit=limit)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), POOL_SECONDS)
