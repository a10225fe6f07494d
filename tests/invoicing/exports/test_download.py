"""GET /d/{export_id}"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import time_machine

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.product import Product
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.identity.login.token_requests import (
    bearer_headers,
    client_form,
    create_user,
    issue_tokens,
    refresh_form,
    request_token,
)
from tests.invoicing.exports.export_requests import (
    GROUPS,
    SETTINGS,
    create_link,
    download_content,
    download_file,
)
from tests.invoicing.exports.invalid_links import (
    change_password,
    create_reader,
    delete_user,
    remove_roles,
    restrict_user,
    sign_in,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser

MINUTES = timedelta(minutes=10)


def is_not_found(response: httpx.Response) -> bool:
    """Whether the response is that of a file that does not exist."""
    if response.status_code == 200:
        return False
    problem = read_problem(response, 404)
    assert (problem["code"], problem["detail"]) == ("not_found", "The record does not exist.")
    return True


def signature(path: str) -> str:
    (found,) = parse_qs(urlsplit(path).query)["s"]
    return found


# ── response ──────────────────────────────────────────────────────────────────────────────────────


def test_a_link_is_an_absolute_url_of_this_service(service: Service) -> None:
    parts = urlsplit(create_link(service))

    assert f"{parts.scheme}://{parts.netloc}" == service.settings.link_url
    assert re.fullmatch(r"/d/exp_[a-z0-9]{20,}", parts.path)
    assert list(parse_qs(parts.query)) == list("oucpeks")
    assert re.fullmatch(r"[0-9a-f]{64}", signature(create_link(service)))


def test_no_token_is_needed_and_any_header_is_ignored(service: Service) -> None:
    path = create_link(service)

    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Cookie": "a=b"}):
        assert service.http.get(path, headers=headers).status_code == 200


def test_the_response_headers_make_browsers_save_a_csv(service: Service) -> None:
    for address, name in ((GROUPS, "billing-group"), (SETTINGS, "billing-group-setting")):
        response = download_file(service, create_link(service, address))

        disposition = response.headers["content-disposition"]
        assert re.fullmatch(rf'attachment; filename="{name}-\d{{8}}\.csv"', disposition)
        assert response.headers["content-type"] == "text/csv; charset=utf-8"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert int(response.headers["content-length"]) == len(response.content)
        assert "etag" not in response.headers
        assert "set-cookie" not in response.headers


def test_the_whole_file_is_returned_for_any_request_headers(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="1")
    path = create_link(service)
    file = download_content(service, path)

    for headers in (
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
    ):
        response = service.http.get(path, headers=headers)

        assert response.status_code == 200, headers
        assert response.content == file, headers
        assert "content-range" not in response.headers, headers
        assert "accept-ranges" not in response.headers, headers


def test_only_get_is_allowed(service: Service) -> None:
    path = create_link(service)

    for method in ("HEAD", "POST", "PUT", "PATCH", "DELETE"):
        assert service.http.request(method, path).status_code == 405, method


def test_a_link_can_be_used_several_times(service: Service) -> None:
    path = create_link(service)

    assert len({download_content(service, path) for _ in range(3)}) == 1


def test_two_links_to_one_file_are_both_valid(service: Service) -> None:
    first = create_link(service)
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=1), tick=False):
        second = create_link(service, redo=True)

    assert first != second
    assert download_content(service, first) == download_content(service, second)


def test_the_signature_is_not_logged(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    path = create_link(service)
    download_file(service, path)
    download_file(service, path.replace("&s=", "&s=0"))
    download_file(service, f"{path}&more=1")

    logged = "".join(capsys.readouterr())

    assert "/d/{export_id}" in logged, "there were lines to look at"
    assert signature(path) not in logged
    assert urlsplit(path).query not in logged


# ── expiry ────────────────────────────────────────────────────────────────────────────────────────


def test_a_link_is_valid_for_ten_minutes(service: Service) -> None:
    made = datetime(2026, 11, 15, 9, 0, 0, tzinfo=UTC)
    with time_machine.travel(made, tick=False):
        path = create_link(service)
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
            assert is_not_found(download_file(service, path)) is not works, after


def test_a_new_link_to_the_same_file_is_valid_for_ten_more_minutes(service: Service) -> None:
    made = datetime(2026, 11, 15, 9, 0, 0, tzinfo=UTC)
    with time_machine.travel(made, tick=False):
        old = create_link(service)
    with time_machine.travel(made + timedelta(minutes=9), tick=False):
        new = create_link(service, redo=True)

    with time_machine.travel(made + timedelta(minutes=15), tick=False):
        assert is_not_found(download_file(service, old))
        assert not is_not_found(download_file(service, new))


# ── invalidation ──────────────────────────────────────────────────────────────────────────────────


def test_changing_the_password_invalidates_the_link(service: Service) -> None:
    user_id, headers = create_reader(service)
    path = create_link(service, headers=headers)
    assert not is_not_found(download_file(service, path))

    change_password(service, user_id)

    assert is_not_found(download_file(service, path))


def test_deleting_the_user_invalidates_the_link(service: Service) -> None:
    user_id, headers = create_reader(service)
    path = create_link(service, headers=headers)

    delete_user(service, user_id)

    assert is_not_found(download_file(service, path))


def test_deleting_the_api_client_invalidates_the_link(service: Service) -> None:
    who = create_subuser(service, core=[RoleAction.ReadBillingGroup])
    path = create_link(service, headers=who.core)
    assert not is_not_found(download_file(service, path))

    deleted = service.http.delete(
        f"/m/u/users/client/{who.user_id}/{who.client_id}", headers=service.root()
    )

    assert deleted.status_code == 200
    assert is_not_found(download_file(service, path))


def test_deleting_another_api_client_keeps_the_link_valid(service: Service) -> None:
    user = create_user(service)
    root = service.root()
    issue_tokens(service, client_form(user))
    path = create_link(service)

    service.http.delete(f"/m/u/users/client/{user.user_id}/{user.client_id}", headers=root)

    assert not is_not_found(download_file(service, path))


def test_signing_out_invalidates_the_link(service: Service) -> None:
    headers = sign_in(service)
    path = create_link(service, headers=headers)
    assert not is_not_found(download_file(service, path))

    assert service.http.delete("/core/session", headers=headers).is_success
    service.http.cookies.clear()

    assert is_not_found(download_file(service, path))


def test_links_of_other_users_stay_valid(service: Service) -> None:
    user_id, headers = create_reader(service)
    _, others = create_reader(service, "john.roe")
    create_link(service, headers=headers)
    path = create_link(service, headers=others)

    delete_user(service, user_id)

    assert not is_not_found(download_file(service, path))


def test_a_portal_token_cannot_create_a_link(service: Service) -> None:
    response = service.http.post(
        GROUPS, json={"redo": True}, headers=service.root(product=Product.portal)
    )

    assert response.status_code == 401


def test_a_link_ends_with_the_permission_behind_it(service: Service) -> None:
    person = create_subuser(service, core=["ReadBillingGroup"])
    link = create_link(service, headers=person.core)
    assert service.http.get(link).status_code == 200

    remove_roles(service, person.user_id)

    assert is_not_found(service.http.get(link))


def test_a_link_ends_when_its_creator_is_restricted_to_other_billing_groups(
    service: Service,
) -> None:
    person = create_subuser(service, core=["ReadBillingGroup"])
    link = create_link(service, headers=person.core)

    restrict_user(service, person.user_id)

    assert is_not_found(service.http.get(link))


def test_a_link_of_invoices_needs_the_permission_for_invoices(service: Service) -> None:
    person = create_subuser(service, core=["ReadBillingGroup", "ReadInvoice"])
    path = "/m/core/export/csv/invoice_account/2026-09"
    link = service.http.post(path, headers=person.core).json()["url"]
    assert service.http.get(link).status_code == 200
    role = f"role-{person.user_id[-12:]}"

    service.http.patch(
        f"/m/auth/rbac/roles/core/{role}",
        json={"permissions": ["ReadBillingGroup"]},
        headers=service.root(),
    )

    assert is_not_found(service.http.get(link))


def test_a_link_ends_with_the_family_of_tokens_that_created_it(service: Service) -> None:
    """A refresh token that is used again has been copied."""
    organisation = service.organisation
    tokens = issue_tokens(service, client_form(organisation))
    link = create_link(service, headers=bearer_headers(tokens["access_token"]))
    assert service.http.get(link).status_code == 200
    again = refresh_form(organisation, tokens["refresh_token"])
    issue_tokens(service, again)

    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=11), tick=False):
        assert request_token(service, again).status_code == 400

    assert is_not_found(service.http.get(link))
