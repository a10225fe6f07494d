"""Stops background jobs, so that only requests change the database, and captures the logs."""

import io
import sys
from collections.abc import Iterator

import pytest
import structlog

from nimbill.foundation.logs import configure_logs
from nimbill.jobs import records


@pytest.fixture(scope="module", autouse=True)
def job_loop_finds_no_jobs() -> Iterator[None]:
    """Queued jobs stay queued; jobs that a request waits for still run."""

    async def find_none(*_: object, **__: object) -> list[str]:
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "list_organisations_with_due_jobs", find_none)
        yield


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the service logs in production."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    before = structlog.get_config()
    configure_logs()
    yield stream
    structlog.configure(**before)
