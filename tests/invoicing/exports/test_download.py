"""GET /d/{export_id}"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import time_machine

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.customers.billing_groups.stored import create
from tests.identity.login.asking import as_client, issued, new_user
from tests.invoicing.exports.asking import GROUPS, SETTINGS, content, download, link
from tests.invoicing.exports.lost_links import change_password, delete_user, reader, signed_in
from tests.people import new_person
from tests.running_service import Service

MINUTES = timedelta(minutes=10)


def gone(answer: httpx.Response) -> bool:
    """Answered as if there had never been such a file."""
    if answer.status_code == 200:
        return False
    problem = problem_of(answer, 404)
    assert (problem["code"], problem["detail"]) == ("not_found", "there is no such record")
    return True


def signature(path: str) -> str:
    (found,) = parse_qs(urlsplit(path).query)["s"]
    return found


# ── what is answered ─────────────────────────────────────────────────────────────────────────────


def test_a_link_is_a_whole_address_of_this_service(service: Service) -> None:
    parts = urlsplit(link(service))

    assert f"{parts.scheme}://{parts.netloc}" == service.settings.link_url
    assert re.fullmatch(r"/d/exp_[a-z0-9]{20,}", parts.path)
    assert list(parse_qs(parts.query)) == list("oucpeks")
    assert re.fullmatch(r"[0-9a-f]{64}", signature(link(service)))


def test_no_token_is_needed_and_any_header_is_ignored(service: Service) -> None:
    path = link(service)

    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Cookie": "a=b"}):
        assert service.http.get(path, headers=headers).status_code == 200


def test_it_is_a_csv_to_be_saved_and_nothing_else(service: Service) -> None:
    for address, name in ((GROUPS, "billing-group"), (SETTINGS, "billing-group-setting")):
        answer = download(service, link(service, address))

        disposition = answer.headers["content-disposition"]
        assert re.fullmatch(rf'attachment; filename="{name}-\d{{8}}\.csv"', disposition)
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert int(answer.headers["content-length"]) == len(answer.content)
        assert "etag" not in answer.headers
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=0-3"},
        {"Range": "bytes=-1"},
        {"Range": "bytes=5-"},
        {"Range": "bytes=0-0,2-3"},
        {"Range": "bytes=999999-"},
        {"Range": "lines=1-2"},
        {"Range": "bytes=0-3", "If-Range": '"x"'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": "Sun, 15 Nov 2126 00:00:00 GMT"},
        {"Accept": "application/json"},
        {"Accept-Encoding": "gzip, br, zstd"},
    ],
)
def test_it_is_always_whole(service: Service, headers: dict[str, str]) -> None:
    create(service, service.root(), billinggroup_id="1")
    path = link(service)
    whole = content(service, path)

    answer = service.http.get(path, headers=headers)

    assert answer.status_code == 200
    assert answer.content == whole
    assert "content-range" not in answer.headers
    assert "accept-ranges" not in answer.headers


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_a_link_can_only_be_read(service: Service, method: str) -> None:
    answer = service.http.request(method, link(service))

    assert answer.status_code == 405


def test_a_link_may_be_followed_again_and_again(service: Service) -> None:
    path = link(service)

    assert len({content(service, path) for _ in range(3)}) == 1


def test_two_links_to_one_file_are_both_good(service: Service) -> None:
    first = link(service)
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=1), tick=False):
        second = link(service, redo=True)

    assert first != second
    assert content(service, first) == content(service, second)


def test_the_signature_stands_in_no_log_line(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    path = link(service)
    download(service, path)
    download(service, path.replace("&s=", "&s=0"))
    download(service, f"{path}&more=1")

    logged = "".join(capsys.readouterr())

    assert "/d/{export_id}" in logged, "there were lines to look at"
    assert signature(path) not in logged
    assert urlsplit(path).query not in logged


# ── until when ───────────────────────────────────────────────────────────────────────────────────


def test_a_link_works_for_ten_minutes_and_no_longer(service: Service) -> None:
    made = datetime(2026, 11, 15, 9, 0, 0, tzinfo=UTC)
    with time_machine.travel(made, tick=False):
        path = link(service)
        assert parse_qs(urlsplit(path).query)["e"] == [str(int((made + MINUTES).timestamp()))]

    for after, works in (
        (timedelta(0), True),
        (timedelta(minutes=9, seconds=59), True),
        (MINUTES - timedelta(microseconds=1), True),
        (MINUTES, False),
        (MINUTES + timedelta(seconds=1), False),
        (timedelta(days=1), False),
        (timedelta(days=40_000), False),
    ):
        with time_machine.travel(made + after, tick=False):
            assert gone(download(service, path)) is not works, after


def test_asking_again_gives_ten_more_minutes_by_a_link_of_its_own(service: Service) -> None:
    made = datetime(2026, 11, 15, 9, 0, 0, tzinfo=UTC)
    with time_machine.travel(made, tick=False):
        old = link(service)
    with time_machine.travel(made + timedelta(minutes=9), tick=False):
        new = link(service, redo=True)

    with time_machine.travel(made + timedelta(minutes=15), tick=False):
        assert gone(download(service, old))
        assert not gone(download(service, new))


# ── with whom it dies ────────────────────────────────────────────────────────────────────────────


def test_a_link_dies_with_a_changed_password(service: Service) -> None:
    user_id, headers = reader(service)
    path = link(service, headers=headers)
    assert not gone(download(service, path))

    change_password(service, user_id)

    assert gone(download(service, path))


def test_a_link_dies_with_its_user(service: Service) -> None:
    user_id, headers = reader(service)
    path = link(service, headers=headers)

    delete_user(service, user_id)

    assert gone(download(service, path))


def test_a_link_dies_with_the_client_that_carried_its_token(service: Service) -> None:
    who = new_person(service, core=[RoleAction.ReadBillingGroup])
    path = link(service, headers=who.core)
    assert not gone(download(service, path))

    deleted = service.http.delete(
        f"/m/u/users/client/{who.user_id}/{who.client_id}", headers=service.root()
    )

    assert deleted.status_code == 200
    assert gone(download(service, path))


def test_a_link_of_one_client_outlives_another_client_of_the_same_user(service: Service) -> None:
    user = new_user(service)
    root = service.root()
    issued(service, as_client(user))
    path = link(service)

    service.http.delete(f"/m/u/users/client/{user.user_id}/{user.client_id}", headers=root)

    assert not gone(download(service, path))


def test_a_link_dies_when_its_session_is_signed_out(service: Service) -> None:
    headers = signed_in(service)
    path = link(service, headers=headers)
    assert not gone(download(service, path))

    assert service.http.delete("/core/session", headers=headers).is_success
    service.http.cookies.clear()

    assert gone(download(service, path))


def test_the_links_of_others_live_on(service: Service) -> None:
    user_id, headers = reader(service)
    _, others = reader(service, "john.roe")
    link(service, headers=headers)
    path = link(service, headers=others)

    delete_user(service, user_id)

    assert not gone(download(service, path))


def test_a_portal_token_makes_no_link(service: Service) -> None:
    answer = service.http.post(
        GROUPS, json={"redo": True}, headers=service.root(product=Product.portal)
    )

    assert answer.status_code == 401
