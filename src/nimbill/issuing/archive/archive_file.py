"""Writes an export: documents, PDF files, an index, the audit log and a signed manifest."""

import asyncio
import json
import zipfile
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from functools import partial
from hashlib import sha256
from typing import IO

from nimbill.audit import records as audit_records
from nimbill.audit.chain import ChainedEntry
from nimbill.credit_notes.document import decode_note
from nimbill.credit_notes.printing import describe_note_file
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, NotFound
from nimbill.invoicing.documents.document import decode_document
from nimbill.invoicing.exports.csv_file import Cell, encode_csv
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter, PrintableFile, describe_invoice_file
from nimbill.invoicing.pdf.rendering import build_compiler_input
from nimbill.issuing.archive import manifest as names
from nimbill.issuing.archive import records
from nimbill.issuing.archive.bodies import ArchivedDocument, DocumentKind
from nimbill.issuing.archive.document_filter import DocumentFilter
from nimbill.issuing.archive.manifest import (
    ArchivedFile,
    ArchiveManifest,
    AuditHead,
    encode_manifest,
)
from nimbill.issuing.archive.records import StoredText
from nimbill.issuing.archive.signature import derive_signing_key, encode_public_key

DOCUMENTS_MAX = 5_000
BATCH_SIZE = 50
AUDIT_BATCH_SIZE = 2_000

OnProgress = Callable[[int, int], None]


class NoDocuments(NotFound):
    """The search finds nothing that the caller may see."""


def _ignore_progress(_finished: int, _total: int) -> None:
    return


@dataclass
class _ArchiveWriter:
    """Adds files to a zip archive and records their digests."""

    archive: zipfile.ZipFile
    files: list[ArchivedFile] = field(default_factory=list)

    async def add(self, name: str, content: bytes) -> None:
        await asyncio.to_thread(self._add, name, [content])

    async def add_lines(self, name: str, lines: Iterable[bytes]) -> None:
        await asyncio.to_thread(self._add, name, lines)

    def _add(self, name: str, parts: Iterable[bytes]) -> None:
        digest, size = sha256(), 0
        with self.archive.open(name, "w", force_zip64=True) as file:
            for part in parts:
                file.write(part)
                digest.update(part)
                size += len(part)
        self.files.append(ArchivedFile(name=name, bytes=size, sha256=digest.hexdigest()))


async def write_archive(
    printer: PdfPrinter,
    encryptor: Encryptor,
    scope: TenantScope,
    selected: DocumentFilter,
    file: IO[bytes],
    *,
    with_audit_log: bool,
    on_progress: OnProgress = _ignore_progress,
) -> ArchiveManifest:
    """Write the documents that the filter selects, and the audit log until now."""
    documents = await _list_selected(printer, scope, selected)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        writer = _ArchiveWriter(archive)
        index: list[list[Cell]] = []
        for start in range(0, len(documents), BATCH_SIZE):
            batch = documents[start : start + BATCH_SIZE]
            async with transaction(printer.engine, scope.organisation_id) as db:
                texts = await records.load_texts(db, scope, batch)
            # decoding large invoices would block the event loop
            described = await asyncio.to_thread(_describe_files, texts)
            async with aclosing(printer.load_all(scope, list(described))) as printed:
                async for pdf_file, pdf in printed:
                    stored = described[pdf_file]
                    index.append(await _add_document(writer, stored, pdf_file.name, pdf))
                    on_progress(len(index), len(documents))
        await writer.add(names.INDEX, encode_csv(names.INDEX_COLUMNS, index))
        head = await _add_audit_log(writer, printer, scope) if with_audit_log else None
        key = derive_signing_key(encryptor)
        manifest = ArchiveManifest(
            format=names.FORMAT,
            organisation_id=scope.organisation_id,
            create_time=clock.format_timestamp(clock.now()),
            documents=len(documents),
            selected=_describe(selected),
            audit_head=head,
            public_key=encode_public_key(key.public_key()),
            files=writer.files,
        )
        content = encode_manifest(manifest)
        await asyncio.to_thread(archive.writestr, names.MANIFEST, content)
        await asyncio.to_thread(archive.writestr, names.SIGNATURE, key.sign(content).hex())
    return manifest


async def _list_selected(
    printer: PdfPrinter, scope: TenantScope, selected: DocumentFilter
) -> list[ArchivedDocument]:
    async with transaction(printer.engine, scope.organisation_id) as db:
        documents, total = await records.list_documents(
            db, scope, selected, ListQuery(limit=DOCUMENTS_MAX)
        )
    if total > DOCUMENTS_MAX:
        raise Conflict(
            "too_many_documents",
            f"The search finds {total} documents, and an export has at most {DOCUMENTS_MAX}. "
            "Choose a shorter range of dates.",
        )
    if not documents:
        raise NoDocuments("no_documents", "The search finds no document to export.")
    return documents


def _describe_files(texts: Iterable[StoredText]) -> dict[PrintableFile, StoredText]:
    return {_describe_file(stored): stored for stored in texts}


def _describe_file(stored: StoredText) -> PrintableFile:
    if stored.document.kind is DocumentKind.credit_note:
        return describe_note_file(decode_note(stored.text))
    file = describe_invoice_file(decode_document(stored.text))
    # a decoded invoice takes much more memory than its text: none waits for its turn to be printed
    return replace(file, build_input=partial(_build_input, stored.text))


def _build_input(text: str) -> tuple[str, int]:
    return build_compiler_input([decode_document(text)], with_cover=False)


async def _add_document(
    writer: _ArchiveWriter, stored: StoredText, pdf_name: str, pdf: bytes
) -> list[Cell]:
    """Add the stored text and the PDF of a document; return its row of the index."""
    document = stored.document
    pdf_file = f"documents/{pdf_name}"
    text_file = f"{pdf_file.removesuffix('.pdf')}.json"
    await writer.add(text_file, stored.text.encode())
    await writer.add(pdf_file, pdf)
    columns = [getattr(document, name) for name in names.INDEX_COLUMNS[:-2]]
    cells = [each.value if isinstance(each, Enum) else each for each in columns]
    return [*cells, text_file, pdf_file]


async def _add_audit_log(
    writer: _ArchiveWriter, printer: PdfPrinter, scope: TenantScope
) -> AuditHead | None:
    """Add the rows until the present head, in short transactions."""
    async with transaction(printer.engine, scope.organisation_id) as db:
        head = await audit_records.load_head(db, scope)
    if head is None:
        return None
    last_seq, last_hash = head
    lines: list[bytes] = []
    seq = 0
    while seq < last_seq:
        async with transaction(printer.engine, scope.organisation_id) as db:
            batch = await audit_records.list_chain(
                db, scope, after_seq=seq, last_seq=last_seq, count=AUDIT_BATCH_SIZE
            )
        if not batch:
            break  # verification reports the missing rows
        lines += [_format_line(entry) for entry in batch]
        seq = batch[-1].seq
    await writer.add_lines(names.AUDIT_CHAIN, lines)
    return AuditHead(seq=last_seq, hash=last_hash.hex())


def _format_line(entry: ChainedEntry) -> bytes:
    line = {"seq": entry.seq, "entry": entry.entry, "hash": entry.hash.hex()}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _describe(selected: DocumentFilter) -> dict[str, str]:
    return {name: str(value) for name, value in asdict(selected).items() if value is not None}
