"""Updates and deletions of one stack at the same moment: one after the other, none lost."""

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

AT_ONCE = 6


def numbered(service: Service, stack_id: str) -> list[str]:
    answer = service.http.get(PATH, params={"stack_id": stack_id}, headers=master_headers(service))
    return [version["version_id"] for version in answer.json()]


def test_updates_at_once_are_versions_one_after_the_other(service: Service) -> None:
    first = apply_template(service)
    stack_id = first["stack_id"]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(
            pool.map(
                lambda number: put_template(
                    service, stack_id, build_template(label=f"label {number}")
                ),
                range(AT_ONCE),
            )
        )

    assert [answer.status_code for answer in answers] == [202] * AT_ONCE
    made = {answer.json()["version_id"] for answer in answers}
    found = numbered(service, stack_id)
    assert found[-1] == first["version_id"]
    assert set(found[:-1]) == made
    stack = service.http.get(f"/v3/alm/stack/{stack_id}", headers=master_headers(service)).json()
    assert stack["version_id"] == found[0], "the stack is to be what the newest version says"


def test_an_update_beside_a_deletion_comes_before_it_or_not_at_all(service: Service) -> None:
    """Whichever is first, the stack leaves."""
    stack_id = apply_template(service)["stack_id"]
    address, headers = f"/v3/alm/stack/{stack_id}", master_headers(service)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        updates = [pool.submit(put_template, service, stack_id) for _ in range(AT_ONCE - 1)]
        deletion = pool.submit(service.http.delete, address, headers=headers)

    assert deletion.result().status_code == 200
    answered = Counter(one.result().status_code for one in updates)
    assert set(answered) <= {202, 404, 409}
    assert len(numbered(service, stack_id)) == 1 + answered[202]
    stack = service.http.get(address, headers=headers).json()
    assert stack["stack_status"].startswith("DELETE_")
