"""Imports files step by step in the test process, which is faster than a job in a subprocess."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import sqlalchemy as sa

from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.foundation.vendor_names import list_provider_names
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.imports import records
from nimbill.imports.commit_import import commit_import
from nimbill.imports.operations import start_import
from nimbill.imports.preparation import ImportRequest, PreparedImport, prepare_import
from nimbill.imports.preparation_process import working_folder
from nimbill.imports.records import NewImport
from nimbill.jobs.records import jobs
from tests.running_service import Service

PATH = "/m/core/costs/imports"
FINAL_STATES = ("done", "unchanged", "refused", "parked", "drift", "failed")
SECONDS_MAX = 120


def wait_for_import(service: Service, import_id: str, headers: dict[str, str]) -> dict[str, Any]:
    """Return the import's record as soon as its job is finished."""
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        answer = service.http.get(f"{PATH}/{import_id}", headers=headers)
        assert answer.status_code == 200, answer.text
        record: dict[str, Any] = answer.json()
        if record["state"] in FINAL_STATES:
            return record
        assert time.monotonic() < deadline, record
        time.sleep(0.05)


def inbox_of(settings: Settings, organisation: NewOrganisation) -> Path:
    """The folder from which the API imports for this organisation. It need not exist."""
    return settings.data / "inbox" / organisation.organisation_id


@dataclass
class InProcessImporter:
    """Prepares and commits imports without the job runner and without a subprocess."""

    service: Service
    organisation: NewOrganisation
    folder: Path

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self.organisation.organisation_id)

    def __call__(
        self, *sources: Path | str, vendor: str = "aws", month: str | None = None
    ) -> dict[str, Any]:
        import_id = self.start(*sources, vendor=vendor, month=month)
        self.commit(import_id, self.prepare(import_id))
        return self.get_record(import_id)

    def set_report_tag_keys(self, *keys: str) -> None:
        answer = self.service.http.put(
            "/m/core/settings", json={"report_tag_keys": keys}, headers=self.headers
        )
        assert answer.status_code == 200, answer.text

    def start(self, *sources: Path | str, vendor: str = "aws", month: str | None = None) -> str:
        import_id, paths = new_id("imp"), [str(source) for source in sources]

        async def start() -> None:
            async with transaction(self.service.resources.engine, self.scope.organisation_id) as db:
                await start_import(
                    db,
                    self.scope,
                    NewImport(
                        import_id=import_id,
                        vendor=vendor,
                        month=month,
                        sources=paths,
                        source_names=paths,
                        roots=None,
                        created_by=self.organisation.root_user_id,
                    ),
                )
                # the job runner of the service must not run it as well
                await db.execute(sa.delete(jobs).where(jobs.c.subject == import_id))

        self.service.run(start)
        return import_id

    def prepare(self, import_id: str) -> PreparedImport:
        request = self.build_request(import_id)
        with patch.dict(os.environ, self.service.settings.to_child_environment()):
            return prepare_import(request, lambda _: None)

    def build_request(self, import_id: str) -> ImportRequest:
        settings = self.service.settings

        async def load() -> ImportRequest:
            async with transaction(self.service.resources.engine, self.scope.organisation_id) as db:
                row = await records.lock_import(db, self.scope, import_id)
                assert row is not None
                known = await records.load_known_deliveries(db, self.scope, row.vendor)
                stored = await load_settings(db, self.scope)
            return ImportRequest(
                organisation_id=self.scope.organisation_id,
                import_id=import_id,
                vendor=row.vendor,
                month=row.month,
                sources=list(row.sources),
                roots=None,
                folder=str(working_folder(settings, import_id)),
                known_deliveries=dict(known),
                providers=list_provider_names(row.vendor, stored.provider_names),
                tag_keys=stored.report_tag_keys,
            )

        return self.service.run(load)

    def commit(self, import_id: str, prepared: PreparedImport) -> None:
        async def commit() -> None:
            async with transaction(self.service.resources.engine, self.scope.organisation_id) as db:
                await commit_import(db, self.service.settings, self.scope, import_id, prepared)

        self.service.run(commit)

    def get_record(self, import_id: str) -> dict[str, Any]:
        answer = self.service.http.get(f"{PATH}/{import_id}", headers=self.headers)
        assert answer.status_code == 200, answer.text
        record: dict[str, Any] = answer.json()
        return record

    @property
    def headers(self) -> dict[str, str]:
        return self.service.root(self.organisation)

    def get_costs(self, by: str = "account", month: str = "2026-09", vendor: str = "aws") -> Any:
        answer = self.service.http.get(
            f"/m/core/costs/{month}", params={"vendor": vendor, "by": by}, headers=self.headers
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def query(self, sql: str) -> Sequence[Any]:
        """Return rows of the importer's organisation."""

        async def execute() -> Sequence[Any]:
            async with transaction(self.service.resources.engine, self.scope.organisation_id) as db:
                return (await db.execute(sa.text(sql))).all()

        return self.service.run(execute)


def load_totals(importer: InProcessImporter) -> dict[str, Any]:
    """Return the current costs by account."""
    rows = importer.query("SELECT customer_id, sum(cost) AS cost FROM cost_sums GROUP BY 1")
    return {row.customer_id: row.cost for row in rows}
