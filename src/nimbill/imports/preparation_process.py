"""The process that prepares an import, started, listened to and ended."""

import asyncio
import json
import os
import sys
from dataclasses import asdict
from typing import Any

import structlog

from nimbill.costs.ingestion.allocator_settings import KEPT_MEMORY
from nimbill.foundation.settings import Settings
from nimbill.imports.preparation import ImportRequest, PreparedImport
from nimbill.jobs.runner import ReportProgress

log = structlog.get_logger()

LINE_BYTES_MAX = 64 * 2**20


class PreparationFailed(Exception):
    """The process died; what it printed is in the log."""


async def prepared_by_process(
    settings: Settings, asked: ImportRequest, tell: ReportProgress
) -> PreparedImport:
    """Ends with us: whoever is cancelled leaves no process behind."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "nimbill.imports.preparation",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LINE_BYTES_MAX,
        env=_environment(settings),
    )
    try:
        return await _answer(process, asked, tell)
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())


def _environment(settings: Settings) -> dict[str, str]:
    """As ours, without what only we need: the database, the key, the mail server."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("NIMBILL_")}
    return KEPT_MEMORY | ours | settings.for_a_process()


async def _answer(
    process: asyncio.subprocess.Process, asked: ImportRequest, tell: ReportProgress
) -> PreparedImport:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.ensure_future(process.stderr.read())
    process.stdin.write(json.dumps(asdict(asked)).encode() + b"\n")
    await process.stdin.drain()
    process.stdin.close()
    prepared: dict[str, Any] | None = None
    async for line in process.stdout:
        message = json.loads(line)
        if "progress" in message:
            await tell(message["progress"])
        else:
            prepared = message["prepared"]
    code = await process.wait()
    if prepared is None or code != 0:
        said = (await errors).decode(errors="replace")
        log.error("import_process", code=code, said=said[-2000:])
        raise PreparationFailed
    await errors
    return PreparedImport(**prepared)
