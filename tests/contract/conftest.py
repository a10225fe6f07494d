"""Stops background jobs, so that only requests change the database."""

from collections.abc import Iterator

import pytest

from nimbill.jobs import records


@pytest.fixture(scope="module", autouse=True)
def job_loop_finds_no_jobs() -> Iterator[None]:
    """Queued jobs stay queued; jobs that a request waits for still run."""

    async def find_none(*_: object, **__: object) -> list[str]:
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "list_organisations_with_due_jobs", find_none)
        yield
