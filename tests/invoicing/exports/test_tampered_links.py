"""GET /d/{export_id}: any change to a link makes it invalid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.invoicing.exports.export_requests import SETTINGS, create_link
from tests.raw_request import RawResponse, raw_request
from tests.running_service import Service
from tests.subusers import create_subuser


@dataclass(frozen=True)
class Address:
    """A link, taken apart."""

    path: str
    query: dict[str, str]

    def __str__(self) -> str:
        return f"{self.path}?{urlencode(self.query)}"

    def with_(self, **parts: str) -> Address:
        return Address(self.path, self.query | parts)


def address(path: str) -> Address:
    parts = urlsplit(path)
    return Address(parts.path, dict(parse_qsl(parts.query)))


@pytest.fixture
def sound(service: Service) -> Address:
    create_billing_group(service, service.root(), billinggroup_id="canary in the file")
    return address(create_link(service))


def follow(service: Service, written: str | bytes) -> RawResponse:
    """As it stands on the wire, past every client that would tidy it up."""
    raw = written if isinstance(written, bytes) else written.encode()
    return raw_request(service, "GET", raw)


def without_id(response: RawResponse) -> tuple[int, str, tuple[tuple[str, str], ...]]:
    """All of an response but the id of its request."""
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
def refused(service: Service) -> Iterator[set[tuple[int, str, tuple[tuple[str, str], ...]]]]:
    """Collects responses; all must be the response to a file that never was."""
    responses = {without_id(follow(service, "/d/exp_never_was"))}
    yield responses
    ((status, body, _),) = responses
    assert status == 404
    assert "canary" not in body


Answers = set[tuple[int, str, tuple[tuple[str, str], ...]]]


def test_the_unchanged_link_is_valid(service: Service, sound: Address) -> None:
    response = follow(service, str(sound))

    assert response.status_code == 200
    assert "canary in the file" in response.text


def test_a_link_with_a_changed_byte_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    whole = str(sound).encode()
    for at in range(whole.index(b"exp_"), len(whole)):
        other = b"a" if whole[at : at + 1] != b"a" else b"b"
        refused.add(without_id(follow(service, whole[:at] + other + whole[at + 1 :])))


def test_a_link_with_a_missing_byte_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    whole = str(sound).encode()
    for at in range(whole.index(b"exp_"), len(whole)):
        refused.add(without_id(follow(service, whole[:at] + whole[at + 1 :])))


def test_a_link_with_a_letter_in_the_other_case_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    whole = str(sound)
    for at in range(whole.index("exp_"), len(whole)):
        if whole[at].isalpha():
            written = whole[:at] + whole[at].swapcase() + whole[at + 1 :]
            refused.add(without_id(follow(service, written)))


def test_a_link_with_an_escaped_letter_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    """The same address to a reader who unescapes; not byte for byte the one we signed."""
    whole = str(sound)
    for at in range(whole.index("exp_"), len(whole)):
        if whole[at] != "?":
            written = f"{whole[:at]}%{ord(whole[at]):02X}{whole[at + 1 :]}"
            refused.add(without_id(follow(service, written)))


def test_a_link_with_missing_repeated_empty_or_moved_parameters_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    pairs = [f"{name}={value}" for name, value in sound.query.items()]
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
            refused.add(without_id(follow(service, f"{sound.path}?{'&'.join(changed)}")))


@pytest.mark.parametrize(
    ("before", "after"),
    [
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
    ],
)
def test_a_link_with_a_longer_query_is_refused(
    service: Service, sound: Address, refused: Answers, before: str, after: str
) -> None:
    written = f"{sound.path}?{before}{urlencode(sound.query)}{after}"

    refused.add(without_id(follow(service, written)))


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
def test_a_link_with_another_path_is_refused(
    service: Service, sound: Address, refused: Answers, path: str
) -> None:
    written = path.format(path=sound.path, id=sound.path.removeprefix("/d/"))

    refused.add(without_id(follow(service, f"{written}?{urlencode(sound.query)}")))


@pytest.mark.parametrize("length", [65, 1000, 60_000])
def test_a_link_with_a_very_long_id_or_parameter_is_refused(
    service: Service, sound: Address, refused: Answers, length: int
) -> None:
    refused.add(without_id(follow(service, f"/d/{'a' * length}?{urlencode(sound.query)}")))
    for name in sound.query:
        refused.add(without_id(follow(service, str(sound.with_(**{name: "1" * length})))))


@pytest.mark.parametrize("number", ["0", "-1", "1e9", "0x1", "١", "１", "9" * 12, "9" * 13, "1.0"])
def test_a_link_with_odd_numbers_is_refused(
    service: Service, sound: Address, refused: Answers, number: str
) -> None:
    for name in ("p", "e", "k"):
        refused.add(without_id(follow(service, str(sound.with_(**{name: number})))))


def test_a_link_with_a_leading_zero_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    for name in ("p", "e", "k"):
        zero = {name: f"0{sound.query[name]}"}
        refused.add(without_id(follow(service, str(sound.with_(**zero)))))


def test_a_link_with_a_later_expiry_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    later = str(int(sound.query["e"]) + 1)

    refused.add(without_id(follow(service, str(sound.with_(e=later)))))


def test_the_query_of_one_file_is_refused_for_another(
    service: Service, sound: Address, refused: Answers
) -> None:
    settings = address(create_link(service, SETTINGS))

    refused.add(without_id(follow(service, str(Address(settings.path, sound.query)))))
    refused.add(without_id(follow(service, str(Address(sound.path, settings.query)))))


def test_a_link_mixed_from_two_links_is_refused(
    service: Service, sound: Address, refused: Answers
) -> None:
    """Another organisation's, another user's, another client's: each part, and all but each."""
    other = service.new_organisation()
    create_billing_group(service, service.root(other), billinggroup_id="canary of another")
    person = create_subuser(service, core=["ReadBillingGroup"])
    for headers in (service.root(other), person.core):
        theirs = address(create_link(service, headers=headers))
        for name, value in theirs.query.items():
            if value == sound.query[name]:
                continue
            mixed = sound.with_(**{name: value})
            rest = theirs.with_(**{name: sound.query[name]})
            for one in (mixed, rest, Address(theirs.path, mixed.query)):
                refused.add(without_id(follow(service, str(one))))


@pytest.mark.parametrize("odd", ["%00", "%ff", "%c0%ae", "%ed%a0%80"])
def test_nul_and_invalid_utf_8_return_400(service: Service, sound: Address, odd: str) -> None:
    for written in (
        f"{sound.path}{odd}?{urlencode(sound.query)}",
        f"/d/{odd}{sound.path.removeprefix('/d/')}?{urlencode(sound.query)}",
        f"{sound}{odd}",
        f"{sound}&{odd}=1",
    ):
        response = follow(service, written)
        assert response.status_code == 400
        assert response.json()["code"] == "malformed_address"
        assert "canary" not in response.text
