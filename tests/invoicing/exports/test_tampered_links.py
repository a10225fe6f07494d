"""GET /d/{export_id}: any change to a link makes it invalid."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.invoicing.exports.export_requests import SETTINGS, create_link
from tests.raw_request import RawResponse, raw_request
from tests.running_service import Service
from tests.subusers import create_subuser

AssertRefused = Callable[[str | bytes], None]


@dataclass(frozen=True)
class LinkParts:
    """The path and the query parameters of a link."""

    path: str
    query: dict[str, str]

    def __str__(self) -> str:
        return f"{self.path}?{urlencode(self.query)}"

    def with_(self, **parts: str) -> LinkParts:
        return LinkParts(self.path, self.query | parts)


def parse_link(url: str) -> LinkParts:
    parts = urlsplit(url)
    return LinkParts(parts.path, dict(parse_qsl(parts.query)))


@pytest.fixture
def link(service: Service) -> LinkParts:
    create_billing_group(service, service.root(), billinggroup_id="canary in the file")
    return parse_link(create_link(service))


def send_raw(service: Service, target: str | bytes) -> RawResponse:
    """Send the bytes unchanged; HTTP clients would normalise them."""
    raw = target if isinstance(target, bytes) else target.encode()
    return raw_request(service, "GET", raw)


def without_request_id(response: RawResponse) -> tuple[int, str, tuple[tuple[str, str], ...]]:
    """The response without its request id."""
    body = re.sub(r"urn:request:\w+", "", response.text)
    return (
        response.status_code,
        body,
        tuple(
            sorted(
                (name, value) for name, value in response.headers.items() if name != "x-request-id"
            )
        ),
    )


@pytest.fixture
def assert_refused(service: Service) -> AssertRefused:
    """Send a changed link and expect the response of a file that does not exist."""
    expected = without_request_id(send_raw(service, "/d/exp_unknown"))
    assert expected[0] == 404
    assert "canary" not in expected[1]

    def send_and_compare(target: str | bytes) -> None:
        assert without_request_id(send_raw(service, target)) == expected, target

    return send_and_compare


def test_the_unchanged_link_is_valid(service: Service, link: LinkParts) -> None:
    response = send_raw(service, str(link))

    assert response.status_code == 200
    assert "canary in the file" in response.text


def test_a_link_with_a_changed_byte_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    url = str(link).encode()
    for at in range(url.index(b"exp_"), len(url)):
        other = b"a" if url[at : at + 1] != b"a" else b"b"
        assert_refused(url[:at] + other + url[at + 1 :])


def test_a_link_with_a_missing_byte_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    url = str(link).encode()
    for at in range(url.index(b"exp_"), len(url)):
        assert_refused(url[:at] + url[at + 1 :])


def test_a_link_with_a_letter_in_the_other_case_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    url = str(link)
    for at in range(url.index("exp_"), len(url)):
        if url[at].isalpha():
            changed = url[:at] + url[at].swapcase() + url[at + 1 :]
            assert_refused(changed)


def test_a_link_with_an_escaped_letter_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    """Unescaping gives the same link, but its bytes differ from the signed ones."""
    url = str(link)
    for at in range(url.index("exp_"), len(url)):
        if url[at] != "?":
            changed = f"{url[:at]}%{ord(url[at]):02X}{url[at + 1 :]}"
            assert_refused(changed)


def test_a_link_with_missing_repeated_empty_or_moved_parameters_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    pairs = [f"{name}={value}" for name, value in link.query.items()]
    for at, pair in enumerate(pairs):
        name = pair.partition("=")[0]
        rest = [*pairs[:at], *pairs[at + 1 :]]
        for changed in (
            rest,
            [*pairs, pair],
            [pair, *pairs],
            [*pairs[:at], f"{name}=", *pairs[at + 1 :]],
            [*pairs[:at], name, *pairs[at + 1 :]],
            [*pairs, f"{name}=x"],
            [f"{name}=x", *pairs],
            [*pairs[:at], f"{pair}%20", *pairs[at + 1 :]],
            [*pairs[:at], f"{pair}+", *pairs[at + 1 :]],
            [*pairs[:at], f"{name}[]={pair.partition('=')[2]}", *pairs[at + 1 :]],
            [*rest, pair] if at < len(pairs) - 1 else rest,
        ):
            assert_refused(f"{link.path}?{'&'.join(changed)}")


ADDITIONS = [
    ("", "&"),
    ("", "&x"),
    ("", "&x="),
    ("", "&x=1"),
    ("", "&redo=true"),
    ("&", ""),
    ("x=1&", ""),
    ("", ";"),
    ("", "#"),
    ("", "#x"),
    ("", "?"),
    ("", "%0a"),
    ("", "%0d%0aX: y"),
    ("?", ""),
]


def test_a_link_with_a_longer_query_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    for before, after in ADDITIONS:
        query = f"{before}{urlencode(link.query)}{after}"
        assert_refused(f"{link.path}?{query}")


OTHER_PATHS = [
    "{path}/",
    "{path}//",
    "/{path}",
    "//d/{id}",
    "/d//{id}",
    "/d/./{id}",
    "/d/../d/{id}",
    "/d/{id}/.",
    "/d/{id}/..",
    "/d/x/../{id}",
    "/d/%2e/{id}",
    "/d/%2e%2e/d/{id}",
    "/d/..%2fd%2f{id}",
    "/d%2f{id}",
    "/d/{id}%2f",
    "/d/%2f{id}",
    "/d/{id}%20",
    "/d/ {id}",
    "/d/{id}.csv",
    "/d/{id};v=1",
    "/d/{id}\\",
    "/D/{id}",
    "/d/",
    "/d",
    "/d/..",
    "/d/%2e%2e",
    "/d/../../etc/passwd",
    "/d/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/d//etc/passwd",
    "/d/http://127.0.0.1/{id}",
    "/d/C:\\{id}",
    "/d/*",
    "/d/%25",
    "/m/core/d/{id}",
    "/m/core{path}",
]


def test_a_link_with_another_path_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    export_id = link.path.removeprefix("/d/")
    for path in OTHER_PATHS:
        changed = path.format(path=link.path, id=export_id)
        assert_refused(f"{changed}?{urlencode(link.query)}")


def test_a_link_with_a_very_long_id_or_parameter_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    for length in [65, 1000, 60_000]:
        assert_refused(f"/d/{'a' * length}?{urlencode(link.query)}")
        for name in link.query:
            assert_refused(str(link.with_(**{name: "1" * length})))


def test_a_link_with_odd_numbers_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    for number in ["0", "-1", "1e9", "0x1", "١", "１", "9" * 12, "9" * 13, "1.0"]:
        for name in ("p", "e", "k"):
            assert_refused(str(link.with_(**{name: number})))


def test_a_link_with_a_leading_zero_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    for name in ("p", "e", "k"):
        zero = {name: f"0{link.query[name]}"}
        assert_refused(str(link.with_(**zero)))


def test_a_link_with_a_later_expiry_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    later = str(int(link.query["e"]) + 1)

    assert_refused(str(link.with_(e=later)))


def test_the_query_of_one_file_is_refused_for_another(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    settings = parse_link(create_link(service, SETTINGS))

    assert_refused(str(LinkParts(settings.path, link.query)))
    assert_refused(str(LinkParts(link.path, settings.query)))


def test_a_link_mixed_from_two_links_is_refused(
    service: Service, link: LinkParts, assert_refused: AssertRefused
) -> None:
    """Exchange each parameter with a link of another organisation or another user."""
    other = service.new_organisation()
    create_billing_group(service, service.root(other), billinggroup_id="canary of another")
    person = create_subuser(service, core=["ReadBillingGroup"])
    for headers in (service.root(other), person.core):
        theirs = parse_link(create_link(service, headers=headers))
        for name, value in theirs.query.items():
            if value == link.query[name]:
                continue
            mixed = link.with_(**{name: value})
            rest = theirs.with_(**{name: link.query[name]})
            for combined in (mixed, rest, LinkParts(theirs.path, mixed.query)):
                assert_refused(str(combined))


@pytest.mark.parametrize("odd", ["%00", "%ff", "%c0%ae", "%ed%a0%80"])
def test_nul_and_invalid_utf_8_return_400(service: Service, link: LinkParts, odd: str) -> None:
    for changed in (
        f"{link.path}{odd}?{urlencode(link.query)}",
        f"/d/{odd}{link.path.removeprefix('/d/')}?{urlencode(link.query)}",
        f"{link}{odd}",
        f"{link}&{odd}=1",
    ):
        response = send_raw(service, changed)
        assert response.status_code == 400
        assert response.json()["code"] == "malformed_address"
        assert "canary" not in response.text
