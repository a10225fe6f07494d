"""An organisation imports from its own roots only; the roots come from NIMBILL_IMPORT_ROOTS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.ids import new_id
from nimbill.imports.operations import start_import
from nimbill.imports.records import NewImport
from tests.imports.aws_reports import build_report, report_line
from tests.imports.in_process_importer import PATH, InProcessImporter, inbox_of, wait_for_import
from tests.running_service import Service

pytestmark = pytest.mark.usefixtures("preparation_in_thread")


@pytest.fixture
def shared_root(service: Service, tmp_path: Path) -> Iterator[Path]:
    """A root that names no organisation, with a file in it."""
    (tmp_path / "september.csv").write_bytes(build_report([report_line("1")]))
    settings = service.settings
    service.resources.settings = replace(settings, import_roots=(str(tmp_path),))
    yield tmp_path
    service.resources.settings = settings


def put_file_of_another_organisation(service: Service) -> Path:
    inbox = inbox_of(service.settings, service.new_organisation("Other"))
    inbox.mkdir(parents=True)
    file = inbox / "secret-customers.csv"
    file.write_bytes(build_report([report_line("4")]))
    return file


def post_source(importer: InProcessImporter, source: object) -> Any:
    body = {"vendor": "aws", "month": "2026-09", "source": str(source)}
    return importer.service.http.post(PATH, json=body, headers=importer.headers)


def test_files_of_another_organisation_cannot_be_imported(importer: InProcessImporter) -> None:
    file = put_file_of_another_organisation(importer.service)
    name = f"{file.parent.name}/{file.name}"

    answers = [post_source(importer, source) for source in (file, f"../{name}", file.parent)]

    assert [answer.status_code for answer in answers] == [400, 400, 400]
    assert all(answer.json()["violations"][0]["field"] == "source" for answer in answers)
    assert not any(file.name in answer.text for answer in answers[2:])


def test_the_inbox_of_all_organisations_cannot_be_listed(importer: InProcessImporter) -> None:
    """A refused import must not name the files of others."""
    put_file_of_another_organisation(importer.service)

    answer = post_source(importer, importer.service.settings.data / "inbox")

    assert answer.status_code == 400
    assert "secret-customers" not in answer.text


def test_an_inbox_that_does_not_exist_contains_no_file(importer: InProcessImporter) -> None:
    answer = post_source(importer, "september.csv")

    record = wait_for_import(importer.service, answer.json()["import_id"], importer.headers)
    assert (record["state"], record["problem"]["code"]) == ("refused", "source_missing")


def test_a_root_that_organisations_share_is_refused(
    importer: InProcessImporter, shared_root: Path
) -> None:
    """The test service has several organisations."""
    answers = [post_source(importer, source) for source in ("september.csv", shared_root)]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert "{organisation}" in answers[0].json()["violations"][0]["rule"]


def test_a_shared_root_is_allowed_for_the_only_organisation(
    importer: InProcessImporter, shared_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def has_none(*_: object) -> bool:
        return False

    monkeypatch.setattr("nimbill.imports.allowed_roots.has_other_organisations", has_none)

    assert (shared_root / "september.csv").exists()
    assert post_source(importer, "september.csv").status_code == 202


def test_an_import_that_waits_uses_the_roots_of_its_organisation(
    importer: InProcessImporter,
) -> None:
    """It may have been requested while the roots were still shared."""
    service, file = importer.service, put_file_of_another_organisation(importer.service)
    import_id, scope = new_id("imp"), TenantScope(importer.organisation.organisation_id)
    waiting = NewImport(
        import_id=import_id,
        vendor="aws",
        month=None,
        sources=[str(file)],
        source_names=["september.csv"],
        roots=[str(service.settings.data / "inbox")],
        created_by=importer.organisation.root_user_id,
    )

    async def start() -> None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            await start_import(db, scope, waiting)

    service.run(start)

    record = wait_for_import(service, import_id, importer.headers)
    assert (record["state"], record["problem"]["code"]) == ("refused", "outside_roots")
