"""An installation with costs, an invoice and an audit log, and commands that run on it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nimbill.audit import records as audit
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.identity.organisations.operations import NewOrganisation
from tests.commands.run_command import run_command
from tests.database.schema_catalogue import list_tables
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MonthEnd
from tests.proof.real_server import environment_for
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql, temporary_database


@dataclass(frozen=True)
class Installation:
    """A database and a data folder; `run` runs a command on them."""

    data: Path
    database: Address
    superuser: Address

    @property
    def environment(self) -> Mapping[str, str]:
        return environment_for(self.data, {"NIMBILL_DATABASE_URL": self.database.url})

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run_command(*map(str, arguments), env=self.environment)

    def run_json(self, *arguments: str | Path) -> tuple[int, Any]:
        result = self.run(*arguments, "--json")
        return result.returncode, json.loads(result.stdout or "null")

    def read_rows(self) -> dict[str, list[str]]:
        """All rows of all tables as text, sorted."""
        address = replace(self.superuser, database=self.database.database)
        return {
            table: sorted(
                row["text"]
                for row in execute_sql(address, f"SELECT t::text AS text FROM {table} t")
            )
            for table in sorted(list_tables(self.database))
        }


@contextmanager
def empty_installation(postgres: Address, superuser: Address, data: Path) -> Iterator[Installation]:
    with temporary_database(postgres, superuser) as database:
        yield Installation(data, database, superuser)


@dataclass(frozen=True)
class BilledMonth:
    """What can be compared after a backup was restored."""

    organisation: NewOrganisation
    invoice: Any
    company_id: str


def fill_installation(installation: Installation, folder: Path) -> BilledMonth:
    with running_service(installation.database.url, installation.data) as service:
        return fill_service(service, folder)


def fill_service(service: Service, folder: Path) -> BilledMonth:
    """Two organisations; the first has costs, an invoice and an audit checkpoint."""
    service.new_organisation("Second")
    month_end = MonthEnd(service, folder)
    company_id = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(company_id)
    assert month_end.create_invoices(company_id).status_code == 200
    write_audit_checkpoint(service)
    return BilledMonth(service.organisation, month_end.get_invoice(company_id), company_id)


def write_audit_checkpoint(service: Service) -> None:
    organisation_id = service.organisation.organisation_id

    async def load_head() -> tuple[int, bytes] | None:
        async with transaction(service.resources.engine, organisation_id) as db:
            return await audit.load_head(db, TenantScope(organisation_id))

    head = service.run(load_head)
    assert head is not None
    folder = service.settings.data / "audit"
    write_checkpoint(folder, service.resources.encryptor, organisation_id, *head)
