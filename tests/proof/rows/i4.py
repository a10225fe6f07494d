"""An address that is not exactly a valid download link leads to no file.

Links of two organisations, two users and every kind of file are changed in random bytes, in their
parameters and in the spelling of their path, mixed with one another, shortened and lengthened.
Expired links, and links whose creator lost its credentials, are tried unchanged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import parse_qsl, urlencode, urlsplit

from litestar.types import ASGIApp

from tests.invoicing.exports.export_requests import (
    SETTINGS,
    create_link,
    create_month_link,
    create_project_link,
)
from tests.invoicing.exports.invalid_links import create_invalid_links, create_reader
from tests.proof.asgi_calls import Answer, Request, app_of, call, each
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service

TARGET = "100,000 variants of links, 0 served, all answered like a file that never existed"
QUICK = 3_000
FULL = 100_000
SECONDS_MAX = 120

AT_ONCE = 4
PRINTABLE = bytes(range(0x21, 0x7F))
RANGES = (b"bytes=0-0", b"bytes=0-", b"bytes=-5", b"bytes=2-1", b"lines=1-2", b"bytes=0-1,3-4")


@dataclass(frozen=True)
class LinkAddress:
    path: bytes
    query: bytes

    @property
    def full(self) -> bytes:
        return self.path + b"?" + self.query

    @property
    def parts(self) -> dict[str, str]:
        return dict(parse_qsl(self.query.decode()))


@dataclass
class LinkTrials:
    app: ASGIApp
    random: Random
    valid: list[LinkAddress]
    unknown_file_body: str
    counts: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    async def request_link(self, address_bytes: bytes) -> Answer:
        path, _, query = address_bytes.partition(b"?")
        headers = [(b"range", self.random.choice(RANGES))] if self.random.random() < 0.1 else []
        return await call(self.app, Request("GET", path, query, headers))

    async def expect_refused(self, reason: str, address_bytes: bytes) -> None:
        answer = await self.request_link(address_bytes)
        if answer.status == 200 or answer.status >= 500 or b"\xe8\xab\x8b" in answer.body:
            self.misses.append(f"served although {reason}: {answer.status} {address_bytes[:300]!r}")
        elif answer.status == 404 and _without_id(answer) != self.unknown_file_body:
            self.misses.append(f"distinguishable although {reason}: {answer.body[:200]!r}")
        elif answer.status not in (404, 400):
            self.misses.append(f"{answer.status} although {reason}: {address_bytes[:300]!r}")


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("I4")
    valid = [_address(path) for path in _create_valid_links(service)]
    invalid = {reason: _address(path) for reason, path in create_invalid_links(service).items()}
    trials = LinkTrials(app_of(service), environment.random("I4"), valid, "")
    service.run(lambda: _run_trials(trials, invalid, size))
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(trials.counts.items()))
    total = sum(trials.counts.values())
    figures = f"{total} variants of {len(valid)} valid and {len(invalid)} invalid links: {kinds}"
    return Measurement(f"{figures}; {len(trials.misses)} wrong", trials.misses)


def _create_valid_links(service: Service) -> list[str]:
    """Links for every kind of file, by two users of one organisation and by another one."""
    _, headers = create_reader(service, "living")
    other = service.root(service.new_organisation("I4 too"))
    root = service.root()
    return [
        create_link(service, headers=root),
        create_link(service, SETTINGS, root),
        create_link(service, headers=headers),
        create_link(service, headers=root, redo=True),
        create_link(service, headers=other),
        create_month_link(service, "invoice_account", headers=root),
        create_month_link(service, "invoice_tag", headers=other),
        create_project_link(service, headers=root),
    ]


def _address(path: str) -> LinkAddress:
    parts = urlsplit(path)
    return LinkAddress(parts.path.encode(), parts.query.encode())


def _without_id(answer: Answer) -> str:
    return re.sub(r"urn:request:\w+", "", answer.body.decode())


async def _run_trials(trials: LinkTrials, invalid: dict[str, LinkAddress], size: int) -> None:
    trials.unknown_file_body = _without_id(await trials.request_link(b"/d/exp_unknown"))
    for address in trials.valid:
        answer = await trials.request_link(address.full)
        if answer.status != 200:
            trials.misses.append(f"a valid link was refused: {answer.status}")
    for reason, address in invalid.items():
        await trials.expect_refused(reason, address.full)
        trials.counts["invalid links"] += 1
    valid_addresses = {address.full for address in trials.valid}

    async def try_variant(number: int) -> None:
        kind = KINDS[number % len(KINDS)]
        address_bytes = kind(trials.random, trials.valid)
        while address_bytes in valid_addresses:
            address_bytes = kind(trials.random, trials.valid)
        reason = kind.__name__.lstrip("_").replace("_", " ")
        trials.counts[reason] += 1
        await trials.expect_refused(f"it has {reason}", address_bytes)

    await each(size, try_variant, at_once=AT_ONCE)


# ── ways to change the address of a link ─────────────────────────────────────────────────────────


def _other_bytes(random: Random, valid: list[LinkAddress]) -> bytes:
    full = bytearray(random.choice(valid).full)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        full[random.randrange(3, len(full))] = random.choice(PRINTABLE)
    return bytes(full)


def _fewer_or_more_bytes(random: Random, valid: list[LinkAddress]) -> bytes:
    full = random.choice(valid).full
    start = random.randrange(3, len(full))
    end = min(len(full), start + random.choice([0, 1, 1, 2, 10]))
    inserted = bytes(random.choices(PRINTABLE, k=random.randrange(3)))
    return full[:start] + inserted + full[end:]


def _parts_of_several_links(random: Random, valid: list[LinkAddress]) -> bytes:
    first, *others = random.sample(valid, 3)
    parts = first.parts
    for other in others:
        shared = [name for name in parts if name in other.parts]
        for name in random.sample(shared, random.choice([0, 1, 1, 2, 5])):
            parts[name] = other.parts[name]
    path = random.choice([first, first, *others]).path
    return path + b"?" + urlencode(parts).encode()


def _parameters_moved(random: Random, valid: list[LinkAddress]) -> bytes:
    address = random.choice(valid)
    pairs = address.query.split(b"&")
    how = random.randrange(4)
    if how == 0:
        random.shuffle(pairs)
    elif how == 1:
        pairs.insert(random.randrange(8), random.choice([*pairs, b"x=1", b"", b"s", b"u="]))
    elif how == 2:
        del pairs[random.randrange(7)]
    else:
        at = random.randrange(7)
        pairs[at] = pairs[at].partition(b"=")[0] + random.choice([b"", b"=", b"[]=1", b"=%20"])
    return address.path + b"?" + random.choice([b"&", b"&", b"&", b";", b"&&"]).join(pairs)


def _letters_escaped(random: Random, valid: list[LinkAddress]) -> bytes:
    full = random.choice(valid).full
    at = random.randrange(3, len(full))
    at += full[at : at + 1] == b"?"
    return full[:at] + b"%%%02x" % full[at] + full[at + 1 :]


def _another_path(random: Random, valid: list[LinkAddress]) -> bytes:
    address = random.choice(valid)
    file = address.path.removeprefix(b"/d/")
    shape = random.choice(
        [
            b"/d/../d/%s",
            b"/d/%%2e%%2e/d/%s",
            b"/d/..%%2f..%%2f%s",
            b"/d//%s",
            b"//d/%s",
            b"/d/%s/",
            b"/d/./%s",
            b"/d%%2f%s",
            b"/d/%s%%00",
            b"/d/%%00%s",
            b"/d/%s.csv",
            b"/d/%s/..",
            b"/d/%%ff%s",
            b"/d/http://127.0.0.1/%s",
            b"/D/%s",
            b"/m/core/d/%s",
            b"/d/%s" + b"a" * random.choice([1, 64, 5000]),
        ]
    )
    return shape % file + b"?" + address.query


def _another_number(random: Random, valid: list[LinkAddress]) -> bytes:
    address = random.choice(valid)
    parts = address.parts
    name = random.choice("pek")
    number = int(parts[name]) + random.choice([-1, 1, 600, -600, 10**6, 10**11])
    parts[name] = random.choice([str(number), f"0{parts[name]}", f"+{parts[name]}", "1e3", ""])
    return address.path + b"?" + urlencode(parts).encode()


def _another_signature(random: Random, valid: list[LinkAddress]) -> bytes:
    address = random.choice(valid)
    parts = address.parts
    kept = random.choice([0, 32, 63, 64])
    digits = "".join(random.choices("0123456789abcdef", k=random.choice([64 - kept, 8])))
    parts["s"] = random.choice([parts["s"][:kept] + digits, parts["s"].upper(), "", "0" * 64])
    return address.path + b"?" + urlencode(parts).encode()


KINDS: tuple[Callable[[Random, list[LinkAddress]], bytes], ...] = (
    _other_bytes,
    _fewer_or_more_bytes,
    _parts_of_several_links,
    _parameters_moved,
    _letters_escaped,
    _another_path,
    _another_number,
    _another_signature,
)


VARIANTS = [
    BrokenVariant(
        "no-expiry",
        "A download link never expires.",
        "served although its ten minutes are over",
        "invoicing/exports/links.py",
        "if clock.unix_seconds() >= link.expires_at:",
        "if False:",
    ),
    BrokenVariant(
        "password-change-ignored",
        "A download link survives a change of the password.",
        "served although the password was changed",
        "access/credentials.py",
        "if credential_epoch != claims.epoch:",
        "if claims.issued_at and credential_epoch != claims.epoch:",
    ),
    BrokenVariant(
        "user-not-signed",
        "The signature of a link does not cover the user who created it.",
        "served although it has parts of several links",
        "invoicing/exports/links.py",
        """\
            link.user_id,
""",
        "",
    ),
]
