"""Starts programs that represent other computers: on this one they have a low priority."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.proof.real_server import ROOT


def start_other_computer(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_lower_priority,
    )


def _lower_priority() -> None:
    os.nice(19)
