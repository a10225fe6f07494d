"""Runs the preparation of an import in a subprocess."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.child_process import discard_input
from nimbill.foundation.settings import Settings
from nimbill.imports.import_failure import PreparationFailed
from nimbill.imports.preparation import ImportRequest, PreparedImport
from nimbill.jobs.records import add_job
from nimbill.jobs.runner import ReportProgress

log = structlog.get_logger()

MESSAGE_BYTES_MAX = 64 * 2**20
LOGGED_CHARACTERS_MAX = 300

REMOVE_WORKING_FOLDER = "remove_import_folder"

# The process allocates again at once what it frees; memory that is kept need not be cleared again
# by the kernel. The allocators read these variables when the process starts. OpenBLAS would start
# threads that nothing uses.
ALLOCATOR_ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
    "MIMALLOC_PURGE_DELAY": "1000",  # milliseconds
    "OPENBLAS_NUM_THREADS": "1",
}


async def run_preparation(
    settings: Settings, request: ImportRequest, report_progress: ReportProgress
) -> PreparedImport:
    """If the caller is cancelled, the process is killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "nimbill.imports.preparation",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=MESSAGE_BYTES_MAX,
        env=_environment(settings),
    )
    try:
        return await _communicate(process, request, report_progress)
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
        await discard_input(process)


def _environment(settings: Settings) -> dict[str, str]:
    """Omit the settings that only the server needs: database, encryption key, mail server."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("NIMBILL_")
    }
    return ALLOCATOR_ENVIRONMENT | inherited | settings.to_child_environment()


async def _communicate(
    process: asyncio.subprocess.Process, request: ImportRequest, report_progress: ReportProgress
) -> PreparedImport:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    error_output_task = asyncio.ensure_future(process.stderr.read())
    process.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
    with suppress(ConnectionError):  # the process ended early; its exit code tells why
        await process.stdin.drain()
    process.stdin.close()
    results: dict[str, Any] = {}
    async for line in process.stdout:
        message = json.loads(line)
        if "progress" in message:
            await report_progress(message["progress"])
        else:
            results |= message
    exit_code = await process.wait()
    error_output = (await error_output_task).decode(errors="replace")
    if "prepared" not in results or exit_code != 0:
        raise _report_failure(exit_code, results.get("failed"), error_output)
    return PreparedImport(**results["prepared"])


def _report_failure(
    exit_code: int, failure: dict[str, Any] | None, error_output: str
) -> PreparationFailed:
    """Log where the process failed. Of its error output only the last line, without traceback."""
    if failure is not None:
        log.error("import_preparation_failed", exit_code=exit_code, **failure["location"])
        return PreparationFailed(failure["cause"])
    last_line = (error_output.strip().splitlines() or [""])[-1]
    log.error(
        "import_preparation_failed",
        exit_code=exit_code,
        error_output=last_line[-LOGGED_CHARACTERS_MAX:],
    )
    return PreparationFailed(_describe_signal(-exit_code) if exit_code < 0 else None)


def _describe_signal(number: int) -> str:
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    hint = " The machine may have too little memory." if name == "SIGKILL" else ""
    return f"The process of the import was ended by the signal {name}.{hint}"


def working_folder(settings: Settings, import_id: str) -> Path:
    return settings.data / "imports" / import_id


async def schedule_folder_removal(db: AsyncConnection, scope: TenantScope, import_id: str) -> None:
    await add_job(
        db,
        scope,
        REMOVE_WORKING_FOLDER,
        due=clock.now(),
        subject=import_id,
        payload={"import_id": import_id},
    )
