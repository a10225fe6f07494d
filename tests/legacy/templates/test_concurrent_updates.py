"""Concurrent updates and deletions of one stack: none is lost."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.legacy.templates.template_requests import (
    PATH,
    apply_template,
    build_template,
    master_headers,
    put_template,
)
from tests.running_service import Service

CONCURRENT = 6


def list_version_ids(service: Service, stack_id: str) -> list[str]:
    response = service.http.get(
        PATH, params={"stack_id": stack_id}, headers=master_headers(service)
    )
    return [version["version_id"] for version in response.json()]


def test_concurrent_updates_are_consecutive_versions(service: Service) -> None:
    first = apply_template(service)
    stack_id = first["stack_id"]

    with ThreadPoolExecutor(CONCURRENT) as pool:
        responses = list(
            pool.map(
                lambda number: put_template(
                    service, stack_id, build_template(label=f"label {number}")
                ),
                range(CONCURRENT),
            )
        )

    assert [response.status_code for response in responses] == [202] * CONCURRENT
    created = {response.json()["version_id"] for response in responses}
    version_ids = list_version_ids(service, stack_id)
    assert version_ids[-1] == first["version_id"]
    assert set(version_ids[:-1]) == created
    stack = service.http.get(f"/v3/alm/stack/{stack_id}", headers=master_headers(service)).json()
    assert stack["version_id"] == version_ids[0]


def test_a_concurrent_update_precedes_the_deletion_or_is_refused(service: Service) -> None:
    """In both cases the stack is deleted."""
    stack_id = apply_template(service)["stack_id"]
    path, headers = f"/v3/alm/stack/{stack_id}", master_headers(service)

    with ThreadPoolExecutor(CONCURRENT) as pool:
        updates = [pool.submit(put_template, service, stack_id) for _ in range(CONCURRENT - 1)]
        deletion = pool.submit(service.http.delete, path, headers=headers)

    assert deletion.result().status_code == 200
    statuses = Counter(update.result().status_code for update in updates)
    assert set(statuses) <= {202, 404, 409}
    assert len(list_version_ids(service, stack_id)) == 1 + statuses[202]
    stack = service.http.get(path, headers=headers).json()
    assert stack["stack_status"].startswith("DELETE_")
