"""Compiles PDF files in a few processes with limits on time, memory and waiting requests.

A large invoice takes seconds and hundreds of megabytes, which the compiler does not return. In a
process of its own it can be ended at any time, and its memory is free afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import structlog

from nimbill.foundation.child_process import discard_input
from nimbill.foundation.errors import Unavailable
from nimbill.invoicing.pdf.fair_turns import FairTurns

# See docs/choices.md, printing-limits.

log = structlog.get_logger()

PROCESSES_MAX = 2
WAITING_MAX = 20  # requests of one organisation
# An invoice of ten lines; it takes a fifth of a second at most.
BRIEF_CHARACTERS_MAX = 20_000
# An invoice of 10,000 lines takes 20 seconds on an idle core and 1.4 GiB.
SECONDS_MAX = 120
MEMORY_MIB_MAX = 1536
# Starting a process takes as long as eight short invoices. After 1,500 of these it uses 85 MiB.
DOCUMENTS_PER_PROCESS = 1000
# The compiler keeps memory; a process with more than this would fail at the next large invoice.
REUSED_MEMORY_MIB_MAX = 384
IDLE_SECONDS = 600
RETRY_SECONDS = 60
# The compiler's threads would otherwise use every core of the machine.
ENVIRONMENT = {"RAYON_NUM_THREADS": "2", "MALLOC_ARENA_MAX": "2"}


class _CompilerFailed(Exception):
    """The process ended without an answer."""


@dataclass(slots=True)
class _Compiler:
    """A running process, the number of documents it has compiled and the memory it uses."""

    process: asyncio.subprocess.Process
    documents: int = 0
    memory_mib: int = 0
    idle_timer: asyncio.TimerHandle | None = None

    async def compile(self, template_data: str, timestamp: int) -> bytes:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        self.documents += 1
        request = {"data": template_data, "timestamp": timestamp}
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            await stdin.drain()
            header: dict[str, Any] = json.loads(await stdout.readline() or b"{}")
            if "code" in header:
                raise Unavailable(**header)
            self.memory_mib = header["memory_mib"]
            return await stdout.readexactly(header["bytes"])
        except (ConnectionError, asyncio.IncompleteReadError, KeyError) as error:
            raise _CompilerFailed from error

    @property
    def is_reusable(self) -> bool:
        return (
            self.process.returncode is None
            and self.documents < DOCUMENTS_PER_PROCESS
            and self.memory_mib <= REUSED_MEMORY_MIB_MAX
        )

    def kill(self) -> None:
        if self.idle_timer is not None:
            self.idle_timer.cancel()
        with suppress(ProcessLookupError):
            self.process.kill()

    async def end(self) -> None:
        """Kill the process and wait until its pipes are closed, also if the caller is cancelled."""
        self.kill()
        await asyncio.shield(asyncio.ensure_future(self._wait_until_closed()))

    async def _wait_until_closed(self) -> None:
        await self.process.communicate()
        await discard_input(self.process)


@dataclass(slots=True)
class _SharedWork:
    task: asyncio.Task[bytes]
    waiting: int = 0


@dataclass(slots=True)
class CompilerPool:
    """Starts processes when they are needed; each compiles a limited number of documents."""

    _turns: FairTurns = field(
        default_factory=lambda: FairTurns(PROCESSES_MAX, waiting_max=WAITING_MAX)
    )
    _idle: list[_Compiler] = field(default_factory=list)
    _shared: dict[tuple[str, str], _SharedWork] = field(default_factory=dict)

    async def compile(self, organisation_id: str, template_data: str, *, timestamp: int) -> bytes:
        """Wait for a turn of the organisation, then compile.

        If the caller is cancelled, its place is free at once and its process is ended. Raise
        Unavailable if the document exceeds a limit.
        """
        brief = len(template_data) <= BRIEF_CHARACTERS_MAX
        async with self._turns.turn(organisation_id, brief=brief), self._borrow() as compiler:
            try:
                async with asyncio.timeout(SECONDS_MAX):
                    return await compiler.compile(template_data, timestamp)
            except (_CompilerFailed, TimeoutError) as error:
                log.warning("pdf_not_compiled", reason=type(error).__name__)
                raise Unavailable(
                    "pdf_limits",
                    f"The PDF could not be made within {SECONDS_MAX} seconds and "
                    f"{MEMORY_MIB_MAX} MiB of memory. Try again later, or shorten the invoice.",
                    retry_after=RETRY_SECONDS,
                ) from error

    @asynccontextmanager
    async def _borrow(self) -> AsyncIterator[_Compiler]:
        """Lend a process; after an error it is ended, because it may still be compiling."""
        compiler = await self._take_idle() or await _start_compiler()
        try:
            yield compiler
        except BaseException:
            await compiler.end()
            raise
        if not compiler.is_reusable:
            await compiler.end()
            return
        loop = asyncio.get_running_loop()
        compiler.idle_timer = loop.call_later(IDLE_SECONDS, self._end_idle, compiler)
        self._idle.append(compiler)

    async def _take_idle(self) -> _Compiler | None:
        """Skip processes that ended meanwhile, as when the machine had too little memory."""
        while self._idle:
            compiler = self._idle.pop()
            assert compiler.idle_timer is not None
            compiler.idle_timer.cancel()
            if compiler.process.returncode is None:
                return compiler
            await compiler.end()
        return None

    def _end_idle(self, compiler: _Compiler) -> None:
        self._idle.remove(compiler)
        compiler.kill()

    async def run_once(
        self, organisation_id: str, name: str, work: Callable[[], Awaitable[bytes]]
    ) -> bytes:
        """Run the work once for all callers that wait for it at the same time.

        It is cancelled when the last of them is.
        """
        key = (organisation_id, name)
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = _SharedWork(asyncio.ensure_future(work()))
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                shared.task.cancel()
                if self._shared.get(key) is shared:
                    del self._shared[key]

    async def close(self) -> None:
        """End all processes that are not in use."""
        compilers, self._idle = self._idle, []
        for compiler in compilers:
            await compiler.end()


async def _start_compiler() -> _Compiler:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "nimbill.invoicing.pdf.compiler_process",
        str(MEMORY_MIB_MAX),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=ENVIRONMENT | _environment(),
    )
    return _Compiler(process)


def _environment() -> dict[str, str]:
    """Compiling needs no setting, in particular no secret."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NIMBILL_")}


@asynccontextmanager
async def open_compiler_pool() -> AsyncIterator[CompilerPool]:
    pool = CompilerPool()
    try:
        yield pool
    finally:
        await pool.close()
