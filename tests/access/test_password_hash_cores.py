"""At most half of the cores hash passwords, across all workers."""

from __future__ import annotations

import runpy
import subprocess
import sys
from itertools import pairwise
from unittest.mock import patch

import pytest

from nimbill.access import password_hash_cores

ROUNDS = 20
TWO_WORKERS = f"""
import os, sys, time
from nimbill.access import password_hash_cores

password_hash_cores.CORES = 1
workers = []
for number in range(2):
    pid = os.fork()
    if not pid:
        for _ in range({ROUNDS}):
            with password_hash_cores.hashing_core():
                os.write(1, f"{{number}} begins\\n".encode())
                time.sleep(0.01)
                os.write(1, f"{{number}} ends\\n".encode())
            if sys.argv[1:] == ["dies"] and not number:
                password_hash_cores.hashing_core().__enter__()
                os._exit(0)
        os._exit(0)
    workers.append(pid)
for pid in workers:
    os.waitpid(pid, 0)
"""


def run_two_workers(*arguments: str) -> list[str]:
    command = [sys.executable, "-c", TWO_WORKERS, *arguments]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return result.stdout.splitlines()


@pytest.mark.parametrize(("cpu_count", "cores"), [(None, 1), (1, 1), (2, 1), (5, 2), (8, 4)])
def test_half_of_the_cores_but_at_least_one_is_used(cpu_count: int | None, cores: int) -> None:
    with patch("os.cpu_count", return_value=cpu_count):
        module = runpy.run_path(password_hash_cores.__file__)

    assert module["CORES"] == cores


def test_workers_that_share_a_core_take_turns() -> None:
    output = run_two_workers()

    assert len(output) == 2 * 2 * ROUNDS
    for begins, ends in zip(output[::2], output[1::2], strict=True):
        assert (begins.split()[1], ends) == ("begins", f"{begins.split()[0]} ends")
    turns = [line.split()[0] for line in output[::2]]
    # without turns one worker would finish before the other starts
    assert sum(first != second for first, second in pairwise(turns)) > ROUNDS // 2, turns


def test_a_worker_that_dies_releases_its_core() -> None:
    output = run_two_workers("dies")

    assert output.count("1 ends") == ROUNDS
    assert output.count("0 ends") == 1
