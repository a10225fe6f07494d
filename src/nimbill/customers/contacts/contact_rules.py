"""Rules of a contact: its name is written without an honorific, which the mail adds."""

from collections.abc import Iterator, Mapping
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.email_rules import find_email_violations
from nimbill.foundation.errors import Violation

basis = chosen("contacts")

CONTACTS_MAX = 20  # of a billing group
NAME_LENGTH_MAX = 100
HONORIFICS = ("様", "さま", "殿", "御中", "さん", "先生")


def find_contact_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    yield from find_email_violations(sent.get("email"))
    name = sent.get("name")
    if not isinstance(name, str):
        return
    if not name.strip() or not name.isprintable():
        yield Violation("name", "one line of text")
    elif name.rstrip().endswith(HONORIFICS):
        yield Violation("name", "without an honorific such as 様, which the mail adds")
