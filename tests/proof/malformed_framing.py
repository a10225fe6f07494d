"""Requests with bad size, framing or headers, and the expected responses."""

from __future__ import annotations

from dataclasses import dataclass, field

JSON_BYTES_MAX = 1_048_576
FORM_BYTES_MAX = 65_536
HEADER_BYTES_MAX = 131_072
HOST = b"Host: 127.0.0.1\r\n"
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@dataclass(frozen=True, slots=True)
class FramingCase:
    name: str
    pieces: tuple[bytes, ...]
    statuses: frozenset[int] = field(default_factory=lambda: frozenset({400}))
    must_close: bool = False  # and no second response: nothing was smuggled
    may_only_close: bool = False  # without a response


def cases(token: str) -> list[FramingCase]:
    """For a caller with this token, so that the body is read."""
    bearer = b"Authorization: Bearer " + token.encode() + b"\r\n"
    to_groups = b"POST /m/core/billinggroup HTTP/1.1\r\n" + HOST + bearer
    to_groups += b"Content-Type: application/json\r\n"
    to_tokens = b"POST /core/access_token HTTP/1.1\r\n" + HOST
    to_tokens += b"Content-Type: application/x-www-form-urlencoded\r\n"
    return [
        *_too_large(to_groups, to_tokens),
        *_bad_lengths(to_groups),
        *_smuggled(to_groups),
        *_bad_heads(to_groups),
        *_incomplete(to_groups, to_tokens),
    ]


def _too_large(to_groups: bytes, to_tokens: bytes) -> list[FramingCase]:
    too_large = frozenset({413})
    chunks = b"".join(b"10000\r\n" + b" " * 65_536 + b"\r\n" for _ in range(17)) + b"0\r\n\r\n"
    return [
        FramingCase(
            "JSON over 1 MiB", _with_length(to_groups, b" " * (JSON_BYTES_MAX + 1)), too_large
        ),
        FramingCase(
            "a declared length of 2 GiB",
            (to_groups + b"Content-Length: 2147483648\r\n\r\n",),
            too_large,
        ),
        FramingCase("JSON over 1 MiB in chunks", _chunked(to_groups, chunks), too_large),
        FramingCase(
            "a form over 64 KiB", _with_length(to_tokens, b"a" * (FORM_BYTES_MAX + 1)), too_large
        ),
        FramingCase("a form over 64 KiB in chunks", _chunked(to_tokens, chunks), too_large),
        FramingCase("10,000 form fields", _with_length(to_tokens, b"&".join([b"a=b"] * 10_000))),
        FramingCase("10,000 form fields of one name", _with_length(to_tokens, b"a&" * 10_000)),
    ]


def _bad_lengths(to_groups: bytes) -> list[FramingCase]:
    lengths = (b"-5", b"+2", b"0x2", b"2, 2", b"2 2", b"", b"9" * 30, b"2\r\nContent-Length: 5")
    return [
        FramingCase(
            f"Content-Length {length!r}",
            (to_groups + b"Content-Length: " + length + b"\r\n\r\n{}",),
        )
        for length in lengths
    ]


def _smuggled(to_groups: bytes) -> list[FramingCase]:
    """A second request hides where the size of the first is ambiguous."""
    tail = b"0\r\n\r\n" + SMUGGLED
    both = b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    other_way = b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n"
    codings = (
        b"xchunked",
        b"identity",
        b"chunked, identity",
        b"chunked\r\nTransfer-Encoding: x",
        b"\x0bchunked",
        b"chunked\r\n : x",
    )
    sizes = (b"zz", b"-1", b"ffffffffffffffffff", b"2;" + b"a" * 70_000, b"0x2", b"")
    return [
        FramingCase("length and chunks", (to_groups + both + tail,), must_close=True),
        FramingCase("chunks and length", (to_groups + other_way + tail,), must_close=True),
        *[
            FramingCase(
                f"Transfer-Encoding {coding!r}",
                (to_groups + b"Transfer-Encoding: " + coding + b"\r\n\r\n" + tail,),
                must_close=True,
            )
            for coding in codings
        ],
        FramingCase(
            "a space before the colon",
            (to_groups + b"Transfer-Encoding : chunked\r\n\r\n" + tail,),
            must_close=True,
        ),
        *[
            FramingCase(
                f"a chunk of {size[:20]!r}", _chunked(to_groups, size + b"\r\n{}\r\n" + tail)
            )
            for size in sizes
        ],
    ]


def _bad_heads(to_groups: bytes) -> list[FramingCase]:
    get = b"GET /healthz HTTP/1.1\r\n" + HOST
    too_large = frozenset({431})
    many = b"".join(b"X-%d: a\r\n" % number for number in range(2_000))
    return [
        FramingCase(
            "a header over 128 KiB",
            (get + b"X: " + b"a" * HEADER_BYTES_MAX + b"\r\n\r\n",),
            too_large,
        ),
        FramingCase(
            "a header of 3 MB", (get + b"X: " + b"a" * 3_000_000 + b"\r\n\r\n",), too_large
        ),
        FramingCase("2,000 headers", (get + many + b"\r\n",), too_large),
        FramingCase(
            "an address over 64 KiB",
            (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",),
            frozenset({414, 431}),
        ),
        FramingCase("a folded header", (get + b"X: a\r\n b\r\n\r\n",)),
        FramingCase("a NUL in a header", (get + b"X: a\0b\r\n\r\n",)),
        FramingCase("TLS instead of HTTP", (b"\x16\x03\x01\x02\x00\x01\x00",), may_only_close=True),
        FramingCase("HTTP/2", (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",), may_only_close=True),
        FramingCase(
            "a body in gzip",
            (to_groups + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00",),
            frozenset({400, 415}),
        ),
    ]


def _incomplete(to_groups: bytes, to_tokens: bytes) -> list[FramingCase]:
    too_slow = frozenset({408})
    length = b"Content-Length: 100\r\n\r\n"
    return [
        FramingCase("a body that is not sent", (to_groups + length,), too_slow),
        FramingCase("a form that is not sent", (to_tokens + length,), too_slow),
        FramingCase("an incomplete body", (to_groups + length + b'{"billing',), too_slow),
        FramingCase("an incomplete chunk", _chunked(to_groups, b"64\r\n{"), too_slow),
        FramingCase(
            "a body that waits for 100 Continue",
            (to_groups + b"Expect: 100-continue\r\n" + length,),
            frozenset({100, 408}),
        ),
        FramingCase(
            "incomplete headers", (b"GET /healthz HTTP/1.1\r\nHost",), too_slow, may_only_close=True
        ),
        FramingCase("nothing", (), may_only_close=True),
    ]


def at_the_limit(token: str, billinggroup_id: str) -> bytes:
    """A valid body of exactly 1 MiB: the limit must not be a byte too low."""
    body = b'{"billinggroup_id": "' + billinggroup_id.encode() + b'", "billinggroup_name": "a", '
    body += b'"company_name": "b", "inv_aggregate": true}'
    body += b" " * (JSON_BYTES_MAX - len(body))
    head = b"POST /m/core/billinggroup HTTP/1.1\r\n" + HOST + b"Authorization: Bearer "
    head += token.encode() + b"\r\nContent-Type: application/json\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _with_length(head: bytes, body: bytes) -> tuple[bytes, ...]:
    return (head + b"Content-Length: %d\r\n\r\n" % len(body), body)


def _chunked(head: bytes, chunks: bytes) -> tuple[bytes, ...]:
    return (head + b"Transfer-Encoding: chunked\r\n\r\n", chunks)
