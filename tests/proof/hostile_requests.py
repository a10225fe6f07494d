"""Valid requests made invalid: in body, address, method, headers and token."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from tests.proof.asgi_calls import Headers, Request
from tests.proof.hostile_values import CANARY, any_text, any_value, mutate, to_json

NOTHING = object()


@dataclass(frozen=True)
class RequestDraft:
    """A request whose parts can still be changed; `value` is its JSON, `form` its fields."""

    method: str
    path: bytes
    query: bytes = b""
    headers: Headers = field(default_factory=list)
    value: Any = NOTHING
    form: tuple[tuple[str, str], ...] | None = None
    raw: bytes | None = None
    content_type: bytes | None = None
    pieces: int = 1

    def request(self) -> Request:
        body, kind = b"", self.content_type
        if self.raw is not None:
            body = self.raw
        elif self.value is not NOTHING:
            body, kind = to_json(self.value), kind or b"application/json"
        elif self.form is not None:
            pairs = [
                (name.encode("utf-8", "replace"), value.encode("utf-8", "replace"))
                for name, value in self.form
            ]
            body = urlencode(pairs).encode()
            kind = kind or b"application/x-www-form-urlencoded"
        headers = [*self.headers, *([(b"content-type", kind)] if kind else [])]
        return Request(self.method, self.path, self.query, headers, body, self.pieces)

    def body(self) -> bytes:
        return self.request().body


Change = Callable[[RequestDraft, Random], RequestDraft]


def make_hostile(draft: RequestDraft, random: Random) -> Request:
    """The request with up to four things wrong."""
    for _ in range(random.choice((0, 1, 1, 1, 1, 2, 2, 3, 4))):
        changes = random.choices((IN_BODY, IN_ADDRESS, IN_HEADERS), (6, 2, 2))[0]
        draft = random.choice(changes)(draft, random)
    return replace(draft, pieces=random.choice((1, 1, 1, 2, 7))).request()


# ── body ─────────────────────────────────────────────────────────────────────────────────────────


def _change_value(draft: RequestDraft, random: Random) -> RequestDraft:
    if draft.form is not None:
        return _change_form(draft, random)
    if draft.raw is not None:
        return _break_bytes(draft, random)
    if draft.value is NOTHING:
        return replace(draft, value=any_value(random))
    return replace(draft, value=mutate(draft.value, random))


def _change_form(draft: RequestDraft, random: Random) -> RequestDraft:
    pairs = list(draft.form or ())
    match random.randrange(5):
        case 0 if pairs:
            pairs.pop(random.randrange(len(pairs)))
        case 1 if pairs:
            pairs.append(random.choice(pairs))
        case 2:
            pairs += [(f"{CANARY}{number}", "") for number in range(60)]
        case _ if pairs:
            at = random.randrange(len(pairs))
            pairs[at] = (pairs[at][0], any_text(random))
    return replace(draft, form=tuple(pairs))


def _break_bytes(draft: RequestDraft, random: Random) -> RequestDraft:
    body = bytearray(draft.body() or b"{}")
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(body) + 1)
        match random.randrange(4):
            case 0 if body:
                body[min(at, len(body) - 1)] = random.randrange(256)
            case 1:
                body[at:at] = random.randbytes(random.randint(1, 4))
            case 2:
                del body[at : at + random.randint(1, 8)]
            case _:
                del body[at:]
    kind = draft.content_type or _kind_of(draft)
    return replace(draft, raw=bytes(body), content_type=kind)


def _other_bytes(draft: RequestDraft, random: Random) -> RequestDraft:
    body = draft.body()
    raw = random.choice(
        (
            b"",
            b" ",
            b"\0",
            b"\xff\xfe",
            b"\xef\xbb\xbf" + body,
            b"\x1f\x8b\x08\x00" + body,
            body + body,
            body + b"\0",
            body.decode("utf-8", "replace").encode("utf-16"),
            body.replace(b'"', b"'"),
            b'{"a":"\xc3\x28"}',
            b'{"a":"\xed\xa0\x80"}',
            CANARY.encode() * 5_000,
            b"&" * 20_000,
            b"a=b&" * 10_000,
        )
    )
    return replace(draft, raw=raw, content_type=draft.content_type or _kind_of(draft))


def _as_multipart(draft: RequestDraft, random: Random) -> RequestDraft:
    line = random.choice((b"\r\n", b"\n"))
    parts = b"".join(
        b"--b"
        + line
        + b'Content-Disposition: form-data; name="'
        + name.encode("utf-8", "replace")
        + random.choice((b'"', b'"; filename="x"', b"", b"\"; filename*=utf-8''%ff"))
        + line
        + line
        + value.encode("utf-8", "replace")
        + line
        for name, value in draft.form or (("a", CANARY),)
    )
    end = random.choice((b"--b--" + line, b"--b", b""))
    kind = random.choice(
        (
            b"multipart/form-data; boundary=b",
            b"multipart/form-data",
            b"multipart/form-data; boundary=",
            b'multipart/form-data; boundary="b"',
            b"multipart/form-data; boundary=" + b"b" * 300,
        )
    )
    return replace(draft, raw=parts + end, content_type=kind)


def _kind_of(draft: RequestDraft) -> bytes:
    form = draft.form is not None
    return b"application/x-www-form-urlencoded" if form else b"application/json"


# ── address and method ───────────────────────────────────────────────────────────────────────────


def _change_segment(draft: RequestDraft, random: Random) -> RequestDraft:
    segments = draft.path.split(b"/")
    at = random.randrange(1, len(segments)) if len(segments) > 1 else 0
    segments[at] = random.choice(
        (
            quote(any_text(random), safe="", errors="replace").encode(),
            CANARY.encode(),
            b"%00",
            b"a%00b",
            b"%ff",
            b"%ed%a0%80",
            b"%",
            b"%2",
            b"%2e%2e",
            b"..",
            b"%2f",
            b"a%2fb",
            b"",
            b"x" * 3_000,
            segments[at].upper(),
            segments[at] + b"%20",
            b"\xff\xfe",
            "日本".encode(),
        )
    )
    return replace(draft, path=b"/".join(segments) or b"/")


def _change_slashes(draft: RequestDraft, random: Random) -> RequestDraft:
    path = random.choice(
        (
            draft.path + b"/",
            b"/" + draft.path,
            draft.path + b"/" + CANARY.encode(),
            b"/",
            b"//",
            b"*",
        )
    )
    return replace(draft, path=path)


def _change_query(draft: RequestDraft, random: Random) -> RequestDraft:
    name = random.choice(
        ("from", "to", "actor", "resource", "before", "namespace", "vendor", CANARY, "", "from")
    )
    value = random.choice(
        (
            any_text(random),
            "-1",
            "9" * 40,
            "1e5",
            "NaN",
            "2026-01-01T00:00:00Z",
            "0001-01-01T00:00:00+23:59",
            "9999-12-31T23:59:59-23:59",
            "10000-01-01",
        )
    )
    more = urlencode({name: value}, errors="replace").encode()
    raw = random.choice((b"%", b"%00", b"%ff=1", b"&&&", b"=", b"a" * 3_000, b"a=1&a=2", b"\xff"))
    query = random.choice((more, more, more, draft.query + b"&" + more, more + b"&" + more, raw))
    return replace(draft, query=query)


def _change_method(draft: RequestDraft, random: Random) -> RequestDraft:
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO", "get")
    return replace(draft, method=random.choice(methods))


# ── headers ──────────────────────────────────────────────────────────────────────────────────────


def _change_content_type(draft: RequestDraft, random: Random) -> RequestDraft:
    kind = random.choice(
        (
            b"",
            b"text/plain",
            b"application/json; charset=utf-8",
            b"application/json;",
            b"APPLICATION/JSON",
            b"application/json; charset=utf-16",
            b"application/json, text/plain",
            b"application/xml",
            b"application/x-www-form-urlencoded",
            b"application/x-www-form-urlencoded; charset=latin-1",
            b"multipart/form-data",
            b"application/msgpack",
            b"\xff",
            b"application/" + b"x" * 3_000,
        )
    )
    return replace(draft, raw=draft.body(), content_type=kind)


def _change_token(draft: RequestDraft, random: Random) -> RequestDraft:
    headers = [pair for pair in draft.headers if pair[0] != b"authorization"]
    token = next(
        (value for name, value in draft.headers if name == b"authorization"), b"Bearer a.b.c"
    )
    at = random.randrange(7, max(8, len(token)))
    flipped = token[:at] + bytes([random.randrange(33, 127)]) + token[at + 1 :]
    basic = base64.b64encode(random.choice((b"a:b", b"\xff", b"a", CANARY.encode() + b":x")))
    given = random.choice(
        (
            [],
            [flipped],
            [flipped],
            [token[:at]],
            [token + b"="],
            [token, token],
            [token.lower()],
            [b"Bearer"],
            [b"Bearer "],
            [b"Bearer  " + token[7:]],
            [b"Basic " + basic],
            [b"Basic " + CANARY.encode()],
            [b"Bearer " + b"a" * 9_000],
            [b"Bearer \xff.\xfe.\xfd"],
            [b"Bearer eyJhbGciOiJub25lIn0.e30."],
            [b"\0"],
        )
    )
    return replace(draft, headers=headers + [(b"authorization", value) for value in given])


def _add_header(draft: RequestDraft, random: Random) -> RequestDraft:
    name, value = random.choice(
        (
            (b"idempotency-key", f"{CANARY}{random.randrange(40)}".encode()),
            (b"idempotency-key", b"the same for many"),
            (b"idempotency-key", b""),
            (b"idempotency-key", b"k" * 256),
            (b"idempotency-key", b"\xff\x00"),
            (b"accept", b"text/html;q=0.1, */*;q=0"),
            (b"accept", b"\xff"),
            (b"accept-encoding", b"gzip, br, *;q=0"),
            (b"content-encoding", b"gzip"),
            (b"content-length", b"0"),
            (b"content-length", b"-1"),
            (b"content-length", b"9999999999999999999"),
            (b"content-length", b"\xb2"),
            (b"transfer-encoding", b"chunked"),
            (b"expect", b"100-continue"),
            (b"range", b"bytes=0-1,2-"),
            (b"host", CANARY.encode()),
            (b"origin", b"null"),
            (b"cookie", b"nimbill_refresh=" + CANARY.encode()),
            (b"cookie", b"=;;==\xff;" + b"a=b;" * 200),
            (b"x-forwarded-for", b"1.2.3.4, \xff"),
            (b"x-request-id", CANARY.encode()),
            (b"if-none-match", b"*"),
            (b"\xff\xfe", b"\x00"),
            (b"x-" + b"h" * 3_000, b"v" * 3_000),
        )
    )
    return replace(draft, headers=[*draft.headers, (name, value)])


IN_BODY: tuple[Change, ...] = (
    *[_change_value] * 8,
    _break_bytes,
    _other_bytes,
    _as_multipart,
)
IN_ADDRESS: tuple[Change, ...] = (
    _change_segment,
    _change_segment,
    _change_query,
    _change_query,
    _change_slashes,
    _change_method,
)
IN_HEADERS: tuple[Change, ...] = (
    _change_content_type,
    _change_token,
    _change_token,
    _add_header,
    _add_header,
    _add_header,
)
