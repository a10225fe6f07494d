"""The base of everything that is sent or received, and the names of vendors."""

import msgspec

# "aws", "azure", "gcp", or another vendor that the setting `vendors` enables.
Vendor = str
# A vendor with customer accounts, invoice settings and invoices: one that `vendors` enables.
BilledVendor = str

SECRET_FIELDS = frozenset({"access_token", "client_secret", "password", "refresh_token", "secret"})


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object of the API, named and spelled as in its OpenAPI document.

    Fields that a newer service adds are ignored. Secrets are not part of the representation.
    """

    def __repr__(self) -> str:
        fields = (
            f"{name}={'***' if name in SECRET_FIELDS else repr(getattr(self, name))}"
            for name in self.__struct_fields__
        )
        return f"{type(self).__name__}({', '.join(fields)})"


class Success(Record, frozen=True, kw_only=True):
    """The response of a change that returns nothing else."""

    status: str = ""
