"""Verifies an export with nothing but the file: neither the service nor its database is needed."""

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import msgspec

from nimbill.audit.chain import ChainedEntry, find_first_break
from nimbill.credit_notes.document import decode_note
from nimbill.foundation.errors import OperatorError
from nimbill.foundation.spreadsheet_text import escape_formula
from nimbill.invoicing.documents.document import decode_document
from nimbill.issuing.archive import manifest as names
from nimbill.issuing.archive.bodies import DocumentKind
from nimbill.issuing.archive.manifest import ArchivedFile, ArchiveManifest, decode_manifest
from nimbill.issuing.archive.signature import compute_fingerprint, is_signed

CHUNK = 1 << 20


class UnreadableArchive(OperatorError):
    """The file is no export of an archive."""


@dataclass(slots=True)
class ArchiveReport:
    """What was verified, and every fault that was found."""

    manifest: ArchiveManifest
    fingerprint: str
    faults: list[str] = field(default_factory=list)
    audit_rows: int = 0

    @property
    def intact(self) -> bool:
        return not self.faults

    def as_json(self) -> dict[str, object]:
        return {
            "intact": self.intact,
            "organisation_id": self.manifest.organisation_id,
            "create_time": self.manifest.create_time,
            "documents": self.manifest.documents,
            "files": len(self.manifest.files),
            "audit_rows": self.audit_rows,
            "fingerprint": self.fingerprint,
            "faults": self.faults,
        }


def verify_archive(path: Path, fingerprint: str | None = None) -> ArchiveReport:
    """Check signature, files, index and audit log; `fingerprint` is that of the expected key."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _verify(archive, fingerprint)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise UnreadableArchive(f"{path} is not a complete zip archive.") from error


def _verify(archive: zipfile.ZipFile, fingerprint: str | None) -> ArchiveReport:
    found = Counter(archive.namelist())
    if names.MANIFEST not in found or names.SIGNATURE not in found:
        raise UnreadableArchive(
            f"The archive has no {names.MANIFEST} or no {names.SIGNATURE}: it is no export of "
            "the document archive."
        )
    content = archive.read(names.MANIFEST)
    try:
        manifest = decode_manifest(content)
        report = ArchiveReport(manifest, compute_fingerprint(manifest.public_key))
    except (msgspec.DecodeError, ValueError) as error:
        raise UnreadableArchive(f"{names.MANIFEST} cannot be read.") from error
    if manifest.format != names.FORMAT:
        raise UnreadableArchive(
            f"The archive has the format {manifest.format}; this program knows {names.FORMAT}."
        )
    signature = archive.read(names.SIGNATURE).decode("ascii", "replace")
    if not is_signed(content, signature, manifest.public_key):
        report.faults.append("the signature does not belong to the manifest")
    if fingerprint is not None and fingerprint.lower() != report.fingerprint:
        report.faults.append("another key signed the archive")
    report.faults += _compare_names(found, manifest)
    faults = {
        file.name: _check_file(archive, file) for file in manifest.files if found[file.name] == 1
    }
    report.faults += [f"{name}: {fault}" for name, fault in faults.items() if fault is not None]
    readable = {name for name, fault in faults.items() if fault is None}
    report.faults += _check_index(archive, manifest, readable)
    _check_audit_log(archive, report, readable)
    return report


def _compare_names(found: Counter[str], manifest: ArchiveManifest) -> Iterator[str]:
    listed = {file.name for file in manifest.files}
    for name in sorted(listed - found.keys()):
        yield f"{name}: missing"
    for name in sorted(found.keys() - listed - {names.MANIFEST, names.SIGNATURE}):
        yield f"{name}: not in the manifest"
    for name, count in sorted(found.items()):
        if count > 1:
            yield f"{name}: contained {count} times"


def _check_file(archive: zipfile.ZipFile, file: ArchivedFile) -> str | None:
    digest, size = sha256(), 0
    try:
        with archive.open(file.name) as content:
            while chunk := content.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                if size > file.bytes:
                    return "longer than in the manifest"
    except (zipfile.BadZipFile, EOFError, NotImplementedError):
        return "cannot be unpacked"
    return None if (size, digest.hexdigest()) == (file.bytes, file.sha256) else "changed"


def _check_index(
    archive: zipfile.ZipFile, manifest: ArchiveManifest, readable: set[str]
) -> Iterator[str]:
    """Each row must name its files and agree with the stored document."""
    if names.INDEX not in readable:
        return
    text = archive.read(names.INDEX).decode("utf-8-sig", "replace")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    if len(rows) != manifest.documents:
        yield f"{names.INDEX}: {len(rows)} rows instead of {manifest.documents}"
    for number, row in enumerate(rows, start=2):
        if any(row.get(name) is None for name in names.INDEX_COLUMNS):
            yield f"{names.INDEX}, line {number}: columns are missing"
        elif row["document"] in readable and not _agrees(archive.read(row["document"]), row):
            yield f"{names.INDEX}, line {number}: it differs from {row['document']}"
    named = {row.get(name) for row in rows for name in ("document", "pdf")}
    listed = {file.name for file in manifest.files} - {names.INDEX, names.AUDIT_CHAIN}
    for name in sorted(listed - named):
        yield f"{name}: not in the index"


def _agrees(content: bytes, row: dict[str, str]) -> bool:
    """Compare what people search for: number, date, counterparty and amount."""
    try:
        text = content.decode()
        if row["kind"] == DocumentKind.credit_note.value:
            note = decode_note(text)
            stored = (note.credit_note_no, note.issue_date, note.addressee.company_name)
            currency, total = note.currency, note.total
        else:
            invoice = decode_document(text)
            stored = (invoice.invoice_no, invoice.issue_date, invoice.addressee.company_name)
            currency, total = invoice.currency, invoice.sheet.total
        number, issue_date, counterparty = stored
        return (row["number"], row["issue_date"], row["counterparty"], row["currency"]) == (
            number,
            issue_date,
            escape_formula(counterparty),
            currency.value,
        ) and Decimal(row["total"]) == total
    except (msgspec.DecodeError, UnicodeDecodeError, ArithmeticError):
        return False


def _check_audit_log(archive: zipfile.ZipFile, report: ArchiveReport, readable: set[str]) -> None:
    manifest = report.manifest
    if names.AUDIT_CHAIN not in readable:
        if manifest.audit_head is not None and not report.faults:
            report.faults.append(f"{names.AUDIT_CHAIN}: missing")
        return
    try:
        lines = archive.read(names.AUDIT_CHAIN).decode().splitlines()
        rows = [json.loads(line) for line in lines]
        chain = [ChainedEntry(row["seq"], row["entry"], bytes.fromhex(row["hash"])) for row in rows]
        head = manifest.audit_head
        last = None if head is None else (head.seq, bytes.fromhex(head.hash))
    except (UnicodeDecodeError, ValueError, KeyError, TypeError):
        report.faults.append(f"{names.AUDIT_CHAIN}: it cannot be read")
        return
    report.audit_rows = len(chain)
    first_break = find_first_break(manifest.organisation_id, chain, head=last)
    if first_break is not None:
        report.faults.append(f"{names.AUDIT_CHAIN}: row {first_break.seq} {first_break.reason}")
