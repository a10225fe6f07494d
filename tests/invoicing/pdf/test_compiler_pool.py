"""PDF files are compiled in processes that have limits, are recycled and can be cancelled."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from bench.example_invoices import build_long_invoice, build_short_invoice, render_invoice
from nimbill.foundation.errors import Unavailable
from nimbill.foundation.language import Language
from nimbill.invoicing.pdf import compiler_pool, rendering
from nimbill.invoicing.pdf.compiler_pool import CompilerPool, open_compiler_pool

T = TypeVar("T")

SHORT = rendering.build_compiler_input([build_short_invoice(Language.en)], with_cover=False)
LONG = rendering.build_compiler_input(
    [build_long_invoice(Language.ja, accounts=300)], with_cover=False
)


def run(call: Callable[[CompilerPool], Awaitable[T]]) -> T:
    async def run_in_pool() -> T:
        async with open_compiler_pool() as pool:
            return await call(pool)

    return asyncio.run(run_in_pool())


async def compile_short(pool: CompilerPool, organisation_id: str = "org_a") -> bytes:
    return await pool.compile(organisation_id, SHORT[0], timestamp=SHORT[1])


def list_process_ids(pool: CompilerPool) -> list[int]:
    return [compiler.process.pid for compiler in pool._idle]


def test_a_process_of_the_pool_gives_the_same_bytes() -> None:
    assert run(compile_short) == render_invoice(build_short_invoice(Language.en))


def test_a_process_is_reused_and_replaced_after_some_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiler_pool, "DOCUMENTS_PER_PROCESS", 2)

    async def compile_thrice(pool: CompilerPool) -> tuple[list[int], list[int], list[int]]:
        used = []
        for _ in range(3):
            await compile_short(pool)
            used.append(list_process_ids(pool))
        return used[0], used[1], used[2]

    first, second, third = run(compile_thrice)

    assert len(first) == len(third) == 1
    assert second == []
    assert first != third


def test_a_process_that_keeps_much_memory_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler_pool, "REUSED_MEMORY_MIB_MAX", 10)

    async def compile_once(pool: CompilerPool) -> list[int]:
        await compile_short(pool)
        return list_process_ids(pool)

    assert run(compile_once) == []


def test_a_document_that_takes_too_long_is_refused_and_its_process_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def exceed(pool: CompilerPool) -> bytes:
        await compile_short(pool)
        (pid,) = list_process_ids(pool)
        with monkeypatch.context() as limits:
            limits.setattr(compiler_pool, "SECONDS_MAX", 0.05)
            with pytest.raises(Unavailable) as refused:
                await pool.compile("org_a", LONG[0], timestamp=LONG[1])
        assert (refused.value.code, refused.value.retry_after > 0) == ("pdf_limits", True)
        pdf = await compile_short(pool)
        assert list_process_ids(pool) != [pid]
        return pdf

    assert run(exceed).startswith(b"%PDF")


def test_a_document_that_needs_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def exceed(pool: CompilerPool) -> bytes:
        with monkeypatch.context() as limits:
            limits.setattr(compiler_pool, "MEMORY_MIB_MAX", 150)
            with pytest.raises(Unavailable) as refused:
                await pool.compile("org_a", LONG[0], timestamp=LONG[1])
        assert refused.value.code == "pdf_limits"
        return await compile_short(pool)

    assert run(exceed).startswith(b"%PDF")


def test_a_cancelled_request_ends_its_process_and_frees_its_place() -> None:
    async def cancel(pool: CompilerPool) -> bytes:
        long = asyncio.ensure_future(pool.compile("org_a", LONG[0], timestamp=LONG[1]))
        await asyncio.sleep(0.2)
        long.cancel()
        async with asyncio.timeout(60):
            return await compile_short(pool)

    assert run(cancel).startswith(b"%PDF")


def test_a_process_that_ended_while_idle_is_replaced() -> None:
    async def end_while_idle(pool: CompilerPool) -> bytes:
        await compile_short(pool)
        (compiler,) = pool._idle
        os.kill(compiler.process.pid, signal.SIGKILL)
        await compiler.process.wait()
        return await compile_short(pool)

    assert run(end_while_idle).startswith(b"%PDF")


def test_a_document_that_its_process_did_not_read_leaves_no_error_to_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged: list[Any] = []
    data, timestamp = SHORT[0] + " " * 10_000_000, SHORT[1]

    async def send_to_stopped_process(pool: CompilerPool) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))
        await compile_short(pool)
        (pid,) = list_process_ids(pool)
        os.kill(pid, signal.SIGSTOP)
        monkeypatch.setattr(compiler_pool, "SECONDS_MAX", 0.2)
        with pytest.raises(Unavailable):
            await pool.compile("org_a", data, timestamp=timestamp)
        gc.collect()
        await asyncio.sleep(0)

    run(send_to_stopped_process)

    assert logged == []


def test_another_organisation_does_not_wait_for_a_long_document() -> None:
    async def compile_both(pool: CompilerPool) -> bool:
        waiting = [
            asyncio.ensure_future(pool.compile("org_a", LONG[0], timestamp=LONG[1]))
            for _ in range(3)
        ]
        await asyncio.sleep(0)
        await compile_short(pool, "org_b")
        finished = any(task.done() for task in waiting[1:])
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return finished

    assert run(compile_both) is False


def test_two_short_documents_of_an_organisation_are_compiled_at_once() -> None:
    async def compile_two(pool: CompilerPool) -> tuple[int, int]:
        await asyncio.gather(compile_short(pool), compile_short(pool))
        short = len(list_process_ids(pool))
        await pool.close()
        longer, timestamp = SHORT[0] + " " * compiler_pool.BRIEF_CHARACTERS_MAX, SHORT[1]
        await asyncio.gather(
            *(pool.compile("org_a", longer, timestamp=timestamp) for _ in range(2))
        )
        return short, len(list_process_ids(pool))

    assert run(compile_two) == (2, 1)


def test_concurrent_requests_for_one_document_share_the_work() -> None:
    calls: list[str] = []

    async def work() -> bytes:
        calls.append("called")
        await asyncio.sleep(0.01)
        return b"pdf"

    async def ask_twice(pool: CompilerPool) -> tuple[bytes, bytes]:
        return await asyncio.gather(
            pool.run_once("org_a", "pdf_1", work), pool.run_once("org_a", "pdf_1", work)
        )

    assert list(run(ask_twice)) == [b"pdf", b"pdf"]
    assert calls == ["called"]


def test_shared_work_ends_with_its_last_caller() -> None:
    ended: list[str] = []

    async def work() -> bytes:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return b""

    async def cancel_one_by_one(pool: CompilerPool) -> None:
        callers = [asyncio.ensure_future(pool.run_once("org_a", "pdf_1", work)) for _ in range(2)]
        await asyncio.sleep(0.01)
        callers[0].cancel()
        await asyncio.sleep(0.01)
        assert ended == []
        callers[1].cancel()
        await asyncio.sleep(0.01)
        assert ended == ["cancelled"]
        assert pool._shared == {}

    run(cancel_one_by_one)
