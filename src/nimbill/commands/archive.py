"""`nimbill archive`: export issued documents, signed, and verify such an export."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

from cyclopts import App, Parameter

from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import (
    NOTHING_FOUND,
    JsonSwitch,
    exit_with_error,
    print_json,
    print_text,
    progress_bar,
)
from nimbill.commands.organisation_command import (
    Organisation,
    OrganisationAccess,
    run_for_organisation,
)
from nimbill.foundation import exact_json
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Conflict
from nimbill.foundation.failure_causes import describe_os_error
from nimbill.invoicing.pdf.compiler_pool import open_compiler_pool
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter
from nimbill.issuing.archive.archive_file import NoDocuments, OnProgress, write_archive
from nimbill.issuing.archive.archive_verification import UnreadableArchive, verify_archive
from nimbill.issuing.archive.document_filter import DocumentFilter, parse_filter
from nimbill.issuing.archive.manifest import ArchiveManifest
from nimbill.issuing.archive.signature import compute_fingerprint

BROKEN_ARCHIVE = 1  # exit code

archive = App(name="archive", help="Issued invoices and credit notes.")


@archive.command
def export(
    *,
    organisation: Organisation,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    date_from: Annotated[str | None, Parameter(name="--from")] = None,
    date_to: Annotated[str | None, Parameter(name="--to")] = None,
    amount_from: str | None = None,
    amount_to: str | None = None,
    currency: Currency | None = None,
    counterparty: str | None = None,
    json: JsonSwitch = False,
) -> None:
    """Export invoices and credit notes with their PDF files and the audit log, signed.

    Parameters
    ----------
    output
        The zip file to write. It must not exist.
    date_from
        Only documents issued on this date or later, yyyy-mm-dd.
    date_to
        Only documents issued on this date or earlier.
    amount_from
        Only documents with this total or more, with tax.
    amount_to
        Only documents with this total or less.
    currency
        Only documents in this currency.
    counterparty
        Only documents of companies whose name or id contains this text.
    """
    selected = parse_filter(
        date_from=date_from,
        date_to=date_to,
        amount_from=amount_from,
        amount_to=amount_to,
        currency=currency,
        counterparty=counterparty,
    )
    manifest = _export(organisation, selected, output)
    written = {
        "file": str(output),
        "documents": manifest.documents,
        "fingerprint": compute_fingerprint(manifest.public_key),
    }
    if json:
        print_json(exact_json.encode(written))
    else:
        print_text(
            f"{output}: {manifest.documents} documents\n"
            f"Fingerprint of the key that signed it: {written['fingerprint']}"
        )


def _export(organisation: str, selected: DocumentFilter, output: Path) -> ArchiveManifest:
    try:
        with progress_bar("archive") as show_progress:
            return run_for_organisation(
                load_command_settings(),
                organisation,
                lambda access: _write(access, selected, output, show_progress),
                changes=False,
            )
    except NoDocuments as error:
        exit_with_error(NOTHING_FOUND, error.detail, code=error.code)
    except FileExistsError:
        raise Conflict(
            "not_written", f"{output} exists already. Choose another name, or move the file."
        ) from None
    except OSError as error:
        reason = describe_os_error(error, str(output))
        raise Conflict("not_written", f"The archive was not written. {reason}") from error


async def _write(
    access: OrganisationAccess, selected: DocumentFilter, output: Path, show_progress: OnProgress
) -> ArchiveManifest:
    with _new_file(output) as file:
        async with open_compiler_pool() as compilers:
            printer = PdfPrinter(access.engine, compilers)
            return await write_archive(
                printer,
                access.encryptor,
                access.scope,
                selected,
                file,
                with_audit_log=True,
                on_progress=show_progress,
            )


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Remove an incomplete file, so that nobody takes it for a complete one."""
    with path.open("xb") as file:
        try:
            yield file
        except BaseException:
            path.unlink(missing_ok=True)
            raise


@archive.command
def verify(file: Path, /, *, fingerprint: str | None = None, json: JsonSwitch = False) -> None:
    """Verify an export: its signature, files, index and audit log.

    Neither the service nor its database is needed. Exit codes: 0 intact; 1 something was changed;
    2 the file is no export.

    Parameters
    ----------
    file
        The zip file.
    fingerprint
        The fingerprint of the key, as the service showed it when the archive was exported. Without
        it, only a change after the signature is noticed, and not an archive signed by somebody
        else.
    """
    try:
        report = verify_archive(file, fingerprint)
    except OSError as error:
        raise UnreadableArchive(describe_os_error(error, str(file))) from error
    if json:
        print_json(exact_json.encode(report.as_json()))
    else:
        print_text(
            f"{report.manifest.documents} documents and {report.audit_rows} rows of the audit log "
            f"of {report.manifest.organisation_id}, exported {report.manifest.create_time}\n"
            f"Fingerprint of the key: {report.fingerprint}"
        )
        print_text("\n".join(report.faults) if report.faults else "intact")
    if not report.intact:
        sys.exit(BROKEN_ARCHIVE)
