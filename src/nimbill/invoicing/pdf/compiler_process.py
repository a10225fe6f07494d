"""A process that compiles PDF files, one at a time, for the worker that started it.

It reads one JSON object per line. For each it writes a line with the number of bytes and the memory
that it uses, followed by the PDF, or a line with an error.
"""

import json
import os
import sys
from contextlib import suppress
from typing import Any

from nimbill.foundation.errors import Unavailable
from nimbill.foundation.parent_watch import watch_parent
from nimbill.foundation.process_memory import limit_memory, measure_memory
from nimbill.invoicing.pdf.typst_compiler import compile_pdf

NICENESS = 5  # requests take precedence


def main(memory_mib: int) -> None:
    # Without its parent nothing reads what this process writes.
    watch_parent(lambda: os._exit(1))
    with suppress(OSError):
        os.nice(NICENESS)
    limit_memory(memory_mib * 2**20)
    while line := sys.stdin.buffer.readline():
        _answer(json.loads(line))


def _answer(request: dict[str, Any]) -> None:
    try:
        pdf = compile_pdf(request["data"], timestamp=request["timestamp"])
    except Unavailable as error:
        _write({"code": error.code, "detail": error.detail, "retry_after": error.retry_after})
        return
    _write({"bytes": len(pdf), "memory_mib": measure_memory() // 2**20}, pdf)


def _write(header: dict[str, Any], content: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + content)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
