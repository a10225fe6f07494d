"""How requests of the contract tests refer to records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.contract.tenants import Tenant


@dataclass(frozen=True)
class RecordReference:
    """How a request refers to a record, how to create one, and where it is stored."""

    make: Callable[[Tenant], str]
    table: str
    column: str
    filtered: bool = False  # a billingGroup filter can hide the record
    prefix: str = ""  # text in front of the id
    suffix: str = ""  # text after the id
    alternative: RecordReference | None = None  # another way to refer to the same record

    def create(self, tenant: Tenant) -> str:
        return self.prefix + self.make(tenant) + self.suffix

    def delete(self, tenant: Tenant, reference: str) -> None:
        key = reference.removeprefix(self.prefix).removesuffix(self.suffix)
        tenant.superuser.delete_rows(self.table, tenant.organisation_id, **{self.column: key})
