"""GET, POST and DELETE /m/portal/filters"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.foundation import exact_json
from nimbill.portal.saved_filters import operations
from tests.portal.portal_scene import PortalScene
from tests.problem_responses import read_problem, read_violations

CONTENT: dict[str, Any] = {"months": 3, "accounts": ["111111111111"], "least": 0.1}


def save(scene: PortalScene, name: str = "mine", headers: Any = None, **content: Any) -> Any:
    return scene.request("POST", "/filters", {"name": name, "content": content}, headers)


def test_a_filter_is_saved_listed_and_deleted(scene: PortalScene) -> None:
    saved = save(scene, **CONTENT)

    body = saved.json()
    assert body == {"filter_id": body["filter_id"], "name": "mine", "content": CONTENT}
    assert scene.customer.get("/filters") == [exact_json.decode_stored(saved.text)]
    deleted = scene.request("DELETE", f"/filters/{body['filter_id']}")
    assert deleted.status_code == 200
    assert scene.customer.get("/filters") == []


def test_filters_belong_to_one_user(scene: PortalScene) -> None:
    body = save(scene, **CONTENT).json()
    path = f"/filters/{body['filter_id']}"

    for headers in (scene.clerk, scene.stranger.portal, scene.root()):
        assert scene.customer.get("/filters", headers) == []
        assert scene.request("DELETE", path, None, headers).status_code == 404
    assert scene.request("DELETE", path).status_code == 200


def test_the_content_is_an_object_of_at_most_8_kib(scene: PortalScene) -> None:
    largest = save(scene, text="x" * (8_192 - len('{"text":""}')))
    larger = save(scene, text="x" * (8_193 - len('{"text":""}')))
    no_object = scene.request("POST", "/filters", {"name": "mine", "content": [1]})

    assert largest.status_code == 200
    assert read_violations(larger) == [("content", "at most 8 KiB as JSON")]
    assert read_violations(no_object) == [("content", "an object")]
    scene.request("DELETE", f"/filters/{largest.json()['filter_id']}")


def test_a_user_has_a_limited_number_of_filters(
    scene: PortalScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert operations.FILTERS_MAX == 100
    monkeypatch.setattr(operations, "FILTERS_MAX", 2)

    responses = [save(scene, name, scene.clerk) for name in ("one", "two", "three")]

    assert [response.status_code for response in responses] == [200, 200, 409]
    assert read_problem(responses[2], 409)["code"] == "too_many_saved_filters"
    assert save(scene).status_code == 200  # of another user
