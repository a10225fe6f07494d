"""Rules of a contact: its name has no honorific, and its group has each address once."""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.email_rules import find_email_violations
from nimbill.foundation.errors import Violation

basis = chosen("contacts")

CONTACTS_MAX = 20  # of a billing group
NAME_LENGTH_MAX = 100
HONORIFICS = ("様", "さま", "殿", "御中", "さん", "先生")


class ContactConflict(StrEnum):
    contact_email_taken = "contact_email_taken"
    too_many_contacts = "too_many_contacts"


def find_contact_conflict(email: str, others: Collection[str]) -> ContactConflict | None:
    """Find why a group cannot have this contact. `others` are its other contacts' addresses."""
    if email.lower() in (other.lower() for other in others):
        return ContactConflict.contact_email_taken
    if len(others) >= CONTACTS_MAX:
        return ContactConflict.too_many_contacts
    return None


def find_contact_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    yield from find_email_violations(sent.get("email"))
    name = sent.get("name")
    if not isinstance(name, str):
        return
    if not name.strip() or not name.isprintable():
        yield Violation("name", "one line of text")
    elif name.rstrip().endswith(HONORIFICS):
        yield Violation("name", "without an honorific such as 様, which the mail adds")
