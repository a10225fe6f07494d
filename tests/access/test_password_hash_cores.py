"""At most half of the cores hash, whichever worker asks."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

from nimbill.access.password_hash_cores import CORES

ROUNDS = 20
TWO_WORKERS = f"""
import os, sys, time
from nimbill.access import hashing_cores

hashing_cores.CORES = 1
workers = []
for number in range(2):
    pid = os.fork()
    if not pid:
        for _ in range({ROUNDS}):
            with hashing_cores.core_to_hash_on():
                os.write(1, f"{{number}} begins\\n".encode())
                time.sleep(0.01)
                os.write(1, f"{{number}} ends\\n".encode())
            if sys.argv[1:] == ["dies"] and not number:
                hashing_cores.core_to_hash_on().__enter__()
                os._exit(0)
        os._exit(0)
    workers.append(pid)
for pid in workers:
    os.waitpid(pid, 0)
"""


def two_workers(*words: str) -> list[str]:
    line = [sys.executable, "-c", TWO_WORKERS, *words]
    done = subprocess.run(line, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


def test_half_of_the_cores_and_one_at_least() -> None:
    assert max(1, (os.cpu_count() or 1) // 2) == CORES


def test_workers_that_share_a_core_never_hash_at_once_and_have_it_in_turn() -> None:
    seen = two_workers()

    assert len(seen) == 2 * 2 * ROUNDS
    for begins, ends in zip(seen[::2], seen[1::2], strict=True):
        assert (begins.split()[1], ends) == ("begins", f"{begins.split()[0]} ends")
    turns = [line.split()[0] for line in seen[::2]]
    # without turns the first would go on until it is done, and only then the other
    assert sum(one != other for one, other in pairwise(turns)) > ROUNDS // 2, turns


def test_a_worker_that_dies_while_it_hashes_holds_nobody_up() -> None:
    seen = two_workers("dies")

    assert seen.count("1 ends") == ROUNDS
    assert seen.count("0 ends") == 1
