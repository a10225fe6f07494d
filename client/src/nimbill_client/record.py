"""The bases of everything that is sent or received, and the names of vendors."""

import msgspec

# "aws", "azure", "gcp", or another vendor that the setting `vendors` enables.
Vendor = str
# A vendor with customer accounts, invoice settings and invoices: one that `vendors` enables.
BilledVendor = str

SECRET_FIELDS = frozenset({"access_token", "client_secret", "password", "refresh_token", "secret"})
SUCCESS_STATES = frozenset({"done", "unchanged"})


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


class ImportOutcome(Record, frozen=True, kw_only=True):
    """What the state of an import means."""

    state: str

    @property
    def counts(self) -> bool:
        """Whether the costs are used for invoices, now or since an earlier import."""
        return self.state in SUCCESS_STATES
