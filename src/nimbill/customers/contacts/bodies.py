"""Request and response bodies of the contacts of a billing group."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from nimbill.customers.contacts.contact_rules import NAME_LENGTH_MAX, find_contact_violations
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.foundation.language import Language
from nimbill.http.request_bodies import Body, Success, described, text_length


class SendAs(StrEnum):
    to = "to"
    cc = "cc"


class ContactBody(Body, frozen=True, kw_only=True):
    """A request replaces the contact as a whole: an absent field has its default."""

    basis: ClassVar[Basis] = chosen("contacts")

    name: Annotated[str, text_length(1, NAME_LENGTH_MAX)]
    email: str
    send_as: Annotated[SendAs | None, described("default `to`")] = None
    receives_invoices: Annotated[bool | None, described("default true")] = None
    language: Annotated[
        Language | None, described("of mails to this contact; null is that of the billing group")
    ] = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_contact_violations(sent)


class CsvContact(ContactBody, frozen=True, kw_only=True):
    """A line of a file: a contact, and the billing group that it belongs to."""

    basis: ClassVar[Basis] = chosen("csv-imports")

    billinggroup_id: Annotated[str, text_length(1, 100)]


class Contact(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("contacts")

    contact_id: str
    company_id: str
    name: str
    email: str
    send_as: SendAs
    receives_invoices: bool
    language: Language | None
    create_time: str


class ContactsCreated(Success, frozen=True, kw_only=True):
    """The contacts in the order of the file."""

    basis: ClassVar[Basis] = chosen("csv-imports")

    created: list[Contact]
