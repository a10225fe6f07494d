"""Contacts: the people at a customer who receive invoices by mail."""

from nimbill_client.bodies import Contact, ContactBody, ContactsCreated, Success
from nimbill_client.connection import Call, Connection

PATH = "/m/core/billinggroup/{company_id}/contacts"
CONTACT_PATH = "/m/core/billinggroup/{company_id}/contacts/{contact_id}"
CSV_PATH = "/m/core/billinggroup/contacts/csv"


class Contacts:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self, company_id: str) -> list[Contact]:
        call = Call(method="GET", path=PATH, ids={"company_id": company_id})
        return self._connection.fetch(list[Contact], call)

    def create(self, company_id: str, contact: ContactBody, *, key: str | None = None) -> Contact:
        ids = {"company_id": company_id}
        call = Call(method="POST", path=PATH, ids=ids, body=contact, key=key)
        return self._connection.fetch(Contact, call)

    def create_from_csv(self, content: bytes, *, key: str | None = None) -> ContactsCreated:
        """Add a contact for each line of a CSV file, or none if one line is refused."""
        call = Call(method="POST", path=CSV_PATH, csv=content, key=key)
        return self._connection.fetch(ContactsCreated, call)

    def replace(
        self, company_id: str, contact_id: str, contact: ContactBody, *, key: str | None = None
    ) -> Contact:
        """Absent fields have their default."""
        ids = {"company_id": company_id, "contact_id": contact_id}
        call = Call(method="PUT", path=CONTACT_PATH, ids=ids, body=contact, key=key)
        return self._connection.fetch(Contact, call)

    def delete(self, company_id: str, contact_id: str, *, key: str | None = None) -> None:
        ids = {"company_id": company_id, "contact_id": contact_id}
        self._connection.fetch(Success, Call(method="DELETE", path=CONTACT_PATH, ids=ids, key=key))
