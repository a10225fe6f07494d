"""While requests are compared, nothing changes by itself."""

from collections.abc import Iterator

import pytest

from nimbill.jobs import records


@pytest.fixture(scope="module", autouse=True)
def job_loop_finds_no_jobs() -> Iterator[None]:
    """What a request leaves to be done stays as it left it; what it waits for is done."""

    async def nobody(*_: object, **__: object) -> list[str]:
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "list_organisations_with_due_jobs", nobody)
        yield
