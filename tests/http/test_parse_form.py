"""Forms of real clients are parsed; malformed forms are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.foundation.errors import Invalid, ServiceError, Unreadable
from nimbill.http.forms import FIELDS_MAX, FORM_BYTES_MAX, parse_form

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=edge"


def multipart(*parts: bytes, boundary: bytes = b"edge") -> bytes:
    return b"".join(b"--%s\r\n%s\r\n" % (boundary, part) for part in parts) + b"--%s--\r\n" % (
        boundary
    )


def part(name: bytes, value: bytes, extra_headers: bytes = b"") -> bytes:
    return b'Content-Disposition: form-data; name="%s"%s\r\n\r\n%s' % (name, extra_headers, value)


def assert_malformed(content_type: str, body: bytes) -> Invalid:
    with pytest.raises(Invalid) as refusal:
        parse_form(content_type, body)
    assert refusal.value.code == "malformed_body"
    return refusal.value


@pytest.mark.parametrize(
    "content_type",
    [URLENCODED, f"{URLENCODED}; charset=utf-8", f"{URLENCODED};", URLENCODED.upper()],
)
def test_a_urlencoded_form_is_parsed(content_type: str) -> None:
    body = b"grant_type=password&username=a%2Bb&password=p+w&scope="

    assert parse_form(content_type, body) == {
        "grant_type": "password",
        "username": "a+b",
        "password": "p w",
        "scope": "",
    }


def test_a_multipart_form_is_parsed() -> None:
    body = multipart(part(b"grant_type", b"password"), part(b"username", "山田".encode()))

    assert parse_form(MULTIPART, body) == {"grant_type": "password", "username": "山田"}


def test_a_part_may_have_a_file_name_and_a_type() -> None:
    extra_headers = b'; filename="secret.txt"\r\nContent-Type: text/plain'

    assert parse_form(MULTIPART, multipart(part(b"client_secret", b"s\r\nt", extra_headers))) == {
        "client_secret": "s\r\nt"
    }


@pytest.mark.parametrize("boundary", ['"edge"', '"ed ge"', "edge; charset=utf-8"])
def test_the_boundary_may_be_quoted(boundary: str) -> None:
    inside = b"ed ge" if " ge" in boundary else b"edge"
    body = multipart(part(b"a", b"1"), boundary=inside)

    assert parse_form(f"multipart/form-data; boundary={boundary}", body) == {"a": "1"}


def test_an_empty_urlencoded_form_has_no_fields() -> None:
    assert parse_form(URLENCODED, b"") == {}


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (URLENCODED, b"a=1&a=2"),
        (URLENCODED, b"a=1&%61=1"),
        (MULTIPART, multipart(part(b"a", b"1"), part(b"a", b"1"))),
    ],
)
def test_a_repeated_field_is_refuse(content_type: str, body: bytes) -> None:
    assert_malformed(content_type, body)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (URLENCODED, b"a=%00"),
        (URLENCODED, b"%00=a"),
        (URLENCODED, b"a=\x00"),
        (MULTIPART, multipart(part(b"a", b"\x00"))),
    ],
)
def test_nul_is_refuse(content_type: str, body: bytes) -> None:
    assert_malformed(content_type, body)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (URLENCODED, b"a=%ff"),
        (URLENCODED, b"a=\xff"),
        (URLENCODED, b"%c0%80=1"),
        (MULTIPART, multipart(part(b"a", b"\xff"))),
        (MULTIPART, multipart(part(b"a", b"\xed\xa0\x80"))),
    ],
)
def test_invalid_utf8_is_refuse(content_type: str, body: bytes) -> None:
    assert_malformed(content_type, body)


@pytest.mark.parametrize("count", [FIELDS_MAX + 1, 10_000])
def test_too_many_fields_are_refuse(count: int) -> None:
    assert_malformed(URLENCODED, b"&".join(b"%x=" % number for number in range(count)))
    if count * 20 < FORM_BYTES_MAX:
        assert_malformed(
            MULTIPART, multipart(*(part(b"%x" % number, b"") for number in range(count)))
        )


def test_the_maximum_number_of_fields_is_accepted() -> None:
    names = [f"f{number}" for number in range(FIELDS_MAX)]

    assert list(parse_form(URLENCODED, "&".join(f"{name}=" for name in names).encode())) == names
    assert (
        list(parse_form(MULTIPART, multipart(*(part(name.encode(), b"") for name in names))))
        == names
    )


@pytest.mark.parametrize("content_type", [URLENCODED, MULTIPART])
def test_a_form_that_is_too_large_is_413(content_type: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        parse_form(content_type, b"a" * (FORM_BYTES_MAX + 1))

    assert refusal.value.status == 413


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary="])
def test_a_multipart_form_without_a_boundary_is_refuse(content_type: str) -> None:
    assert_malformed(content_type, multipart(part(b"a", b"1")))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no boundary anywhere",
        b"--edge\r\n",
        b"--edge\r\n\r\n",
        multipart(part(b"a", b"1"))[:-8],
        multipart(b'Content-Disposition: attachment; name="a"\r\n\r\n1'),
        multipart(b"\r\n1"),
        multipart(b"X" * 20_000 + b": y\r\n\r\n1"),
    ],
)
def test_a_broken_multipart_form_is_refuse(body: bytes) -> None:
    assert_malformed(MULTIPART, body)


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/json", "form", ";", "\xff"]
)
def test_another_content_type_is_415(content_type: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        parse_form(content_type, b"a=1")

    assert refusal.value.status == 415


def test_an_error_does_not_repeat_what_was_sent() -> None:
    refusal = assert_malformed(URLENCODED, b"canary=1&canary=2")

    assert "canary" not in refusal.detail + str(refusal)


@given(
    content_type=st.sampled_from([URLENCODED, MULTIPART, 'multipart/form-data; boundary="'])
    | st.text('amultipart/form-data;="\\ \r\n\xff', max_size=60),
    body=st.binary(max_size=300)
    | st.lists(st.binary(max_size=40), max_size=4).map(lambda parts: multipart(*parts)),
)
def test_any_form_is_parsed_or_refuse(content_type: str, body: bytes) -> None:
    status, fields = 200, {}
    try:
        fields = parse_form(content_type, body)
    except ServiceError as refusal:
        status = refusal.status

    assert status in (200, 400, 413, 415)
    assert all("\0" not in name + value for name, value in fields.items())
