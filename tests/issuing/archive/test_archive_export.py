"""The signed export of documents, and its verification without the service."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.encryption import Encryptor
from nimbill.issuing.archive import archive_file
from nimbill.issuing.archive.archive_verification import UnreadableArchive, verify_archive
from nimbill.issuing.archive.manifest import AUDIT_CHAIN, INDEX, MANIFEST, SIGNATURE
from nimbill.issuing.archive.signature import derive_signing_key, encode_public_key
from tests.commands.run_command import run_command, service_environment
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.issuing.archive.issued_documents import IssuedDocuments, issue_documents
from tests.problem_responses import read_problem

Files = dict[str, bytes]
INVOICE = "documents/202609-0001-aws.json"
OTHER_PDF = "documents/202609-0002-aws.pdf"


@pytest.fixture
def documents(month_end: MonthEnd) -> IssuedDocuments:
    return issue_documents(month_end)


@pytest.fixture
def exported(month_end: MonthEnd, documents: IssuedDocuments, tmp_path: Path) -> Path:
    response = month_end.get("/archive/zip")
    assert response.status_code == 200, response.text
    assert response.headers["content-disposition"] == 'attachment; filename="archive.zip"'
    file = tmp_path / "archive.zip"
    file.write_bytes(response.content)
    return file


def read_files(path: Path) -> Files:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_files(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_an_export_has_documents_index_and_audit_log_and_is_intact(
    month_end: MonthEnd, documents: IssuedDocuments, exported: Path
) -> None:
    files = read_files(exported)
    index = list(csv.DictReader(io.StringIO(files[INDEX].decode("utf-8-sig"), newline="")))
    path = f"/invoices/{MONTH}/{documents.other}/aws"

    assert [row["kind"] for row in index] == ["invoice", "invoice", "credit_note"]
    assert {row["total"] for row in index} >= {"190472", "110"}
    assert files[OTHER_PDF] == month_end.get(f"{path}/pdf").content
    assert json.loads(files[INVOICE])["invoice_no"] == "202609-0001"
    assert all(row["document"] in files and row["pdf"] in files for row in index)

    report = verify_archive(exported, month_end.get("/archive/key").json()["fingerprint"])

    assert report.faults == []
    assert report.manifest.organisation_id == month_end.service.organisation.organisation_id
    assert (report.manifest.documents, len(report.manifest.files)) == (3, 8)
    assert report.audit_rows == len(files[AUDIT_CHAIN].splitlines()) > 10


def test_an_export_has_the_documents_of_the_filter(
    month_end: MonthEnd,
    documents: IssuedDocuments,
    tmp_path: Path,
) -> None:
    response = month_end.get("/archive/zip?document_kind=credit_note&amount_to=110")
    file = tmp_path / "archive.zip"
    file.write_bytes(response.content)

    report = verify_archive(file)

    assert report.intact
    assert report.manifest.documents == 1
    assert report.manifest.selected == {"kind": "credit_note", "amount_to": "110"}


def test_a_search_without_results_is_not_exported(
    month_end: MonthEnd, documents: IssuedDocuments, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert documents.credited
    nothing = month_end.get("/archive/zip?date_from=9999-01-01")
    monkeypatch.setattr(archive_file, "DOCUMENTS_MAX", 2)
    too_many = month_end.get("/archive/zip")

    assert read_problem(nothing, 404)["code"] == "no_documents"
    assert read_problem(too_many, 409)["code"] == "too_many_documents"
    assert "3 documents" in read_problem(too_many, 409)["detail"]


def test_an_export_has_the_audit_log_if_the_caller_may_read_all_of_it(
    month_end: MonthEnd, documents: IssuedDocuments, tmp_path: Path
) -> None:
    both = (RoleAction.ReadInvoice, RoleAction.ReadAudit)
    clerk = month_end.service.caller(RoleAction.ReadInvoice)
    restricted = month_end.service.caller(*both, billing_groups=[documents.other])
    file = tmp_path / "archive.zip"

    for headers, count, has_log in (
        (month_end.service.caller(*both), 3, True),
        (clerk, 3, False),
        (restricted, 1, False),
    ):
        response = month_end.get("/archive/zip", headers)
        file.write_bytes(response.content)
        report = verify_archive(file)
        assert report.intact
        assert report.manifest.documents == count
        assert (report.audit_rows > 0, AUDIT_CHAIN in read_files(file)) == (has_log, has_log)


def change_amount(files: Files) -> None:
    files[INVOICE] = files[INVOICE].replace(b"190472", b"190473")


def remove_pdf(files: Files) -> None:
    del files[OTHER_PDF]


def add_file(files: Files) -> None:
    files["documents/202609-0003-aws.json"] = b"{}"


def change_manifest(files: Files) -> None:
    files[MANIFEST] = files[MANIFEST].replace(b'"documents":3', b'"documents":2')


def change_audit_log(files: Files) -> None:
    files[AUDIT_CHAIN] = files[AUDIT_CHAIN].replace(b"root", b"toor", 1)


def shorten_audit_log(files: Files) -> None:
    files[AUDIT_CHAIN] = b"".join(files[AUDIT_CHAIN].splitlines(keepends=True)[:-1])


def lengthen_index(files: Files) -> None:
    files[INDEX] += b"invoice\r\n"


def lose_signature(files: Files) -> None:
    files[SIGNATURE] = b"00" * 64


FAULTS: dict[Callable[[Files], None], str] = {
    change_amount: f"{INVOICE}: changed",
    remove_pdf: f"{OTHER_PDF}: missing",
    add_file: "documents/202609-0003-aws.json: not in the manifest",
    change_manifest: "the signature does not belong to the manifest",
    change_audit_log: f"{AUDIT_CHAIN}: changed",
    shorten_audit_log: f"{AUDIT_CHAIN}: changed",
    lengthen_index: f"{INDEX}: longer than in the manifest",
    lose_signature: "the signature does not belong to the manifest",
}


def test_a_changed_export_is_noticed(exported: Path, tmp_path: Path) -> None:
    for change, fault in FAULTS.items():
        files = read_files(exported)
        change(files)

        report = verify_archive(write_files(tmp_path / "changed.zip", files))

        assert fault in report.faults, change
        assert not report.intact


def sign_anew(files: Files) -> Files:
    """Sign a changed archive with a key of one's own, as somebody who falsifies it would."""
    key = derive_signing_key(Encryptor(b"k" * 32))
    manifest = json.loads(files[MANIFEST])
    manifest["public_key"] = encode_public_key(key.public_key())
    for file in manifest["files"]:
        content = files[file["name"]]
        file |= {
            "bytes": len(content),
            "sha256": sha256(content).hexdigest(),
        }
    files[MANIFEST] = json.dumps(manifest).encode()
    files[SIGNATURE] = key.sign(files[MANIFEST]).hex().encode()
    return files


SIGNED_FAULTS: dict[Callable[[Files], None], str] = {
    change_amount: f"it differs from {INVOICE}",
    change_audit_log: "changed",
    shorten_audit_log: "missing",
    lengthen_index: f"{INDEX}, line 5: columns are missing",
}


def test_a_change_signed_by_somebody_else_is_noticed(
    month_end: MonthEnd, exported: Path, tmp_path: Path
) -> None:
    fingerprint = month_end.get("/archive/key").json()["fingerprint"]
    for change, fault in SIGNED_FAULTS.items():
        files = read_files(exported)
        change(files)
        signed = write_files(tmp_path / "signed.zip", sign_anew(files))

        assert any(each.endswith(fault) for each in verify_archive(signed).faults), change
        assert "another key signed the archive" in verify_archive(signed, fingerprint).faults


def test_what_is_no_export_is_refused(exported: Path, tmp_path: Path) -> None:
    files = read_files(exported)
    half = tmp_path / "half.zip"
    half.write_bytes(exported.read_bytes()[: exported.stat().st_size // 2])
    no_manifest = write_files(tmp_path / "none.zip", {"a": b""})
    unreadable = write_files(tmp_path / "unreadable.zip", {**files, MANIFEST: b"{}"})
    later = files[MANIFEST].replace(b"nimbill-archive-1", b"nimbill-archive-9")
    unknown = write_files(tmp_path / "later.zip", {**files, MANIFEST: later})

    for path in (half, no_manifest, unreadable, unknown):
        with pytest.raises(UnreadableArchive):
            verify_archive(path)


def test_the_commands_export_and_verify(
    month_end: MonthEnd,
    documents: IssuedDocuments,
    tmp_path: Path,
) -> None:
    service, output = month_end.service, tmp_path / "books.zip"
    env = service_environment(service)
    organisation = ("--organisation", service.organisation.organisation_id)
    export = ("archive", "export", *organisation, "--output", str(output), "--json")

    written = run_command(*export, "--counterparty", "みなと", env=env)
    again = run_command(*export, env=env)
    nothing = run_command(*export[:-2], str(tmp_path / "b.zip"), "--from", "9999-01-01", env=env)

    assert written.returncode == 0, written.stderr
    printed = json.loads(written.stdout)
    assert (printed["file"], printed["documents"]) == (str(output), 1)
    assert again.returncode == 2
    assert "exists already" in json.loads(again.stdout)["error"]["detail"]
    assert nothing.returncode == 3
    assert not (tmp_path / "b.zip").exists()

    fingerprint = ("--fingerprint", printed["fingerprint"], "--json")
    intact = run_command("archive", "verify", str(output), *fingerprint, env={})
    files = read_files(output)
    remove_pdf(files)
    broken = run_command("archive", "verify", str(write_files(output, files)), *fingerprint, env={})
    missing = run_command("archive", "verify", str(tmp_path / "c.zip"), "--json", env={})

    assert (intact.returncode, json.loads(intact.stdout)["intact"]) == (0, True)
    assert (broken.returncode, json.loads(broken.stdout)["intact"]) == (1, False)
    assert missing.returncode == 2
    assert "c.zip" in json.loads(missing.stdout)["error"]["detail"]
