"""The rate limit that worker processes share through a file."""

from __future__ import annotations

import multiprocessing
import stat
import subprocess
import sys
from pathlib import Path

from nimbill.access import shared_rate_limit
from nimbill.access.shared_rate_limit import PROBES, WINDOW_NS, SharedRateLimit

NOW = 5 * WINDOW_NS
LIMIT = 3

COUNT_IN_A_PROCESS = """
import sys
from pathlib import Path
from nimbill.access.shared_rate_limit import SharedRateLimit
limit = SharedRateLimit(Path(sys.argv[1]), 200)
print(sum(limit.allow("user", now=10**12) for _ in range(200)))
"""


def test_the_limit_holds_for_any_second(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path / "rates", LIMIT)
    half = WINDOW_NS // 2

    first = [limit.allow("user", NOW) for _ in range(2)]
    second = [limit.allow("user", NOW + half) for _ in range(2)]
    third = [limit.allow("user", NOW + WINDOW_NS) for _ in range(3)]

    assert (first, second) == ([True, True], [True, False])
    assert third == [True, True, False], "the request of half a second ago still counts"


def test_a_request_counts_for_exactly_one_second(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path / "rates", 1)
    assert limit.allow("user", NOW)

    assert not limit.allow("user", NOW + 999_999_999)
    assert limit.allow("user", NOW + 1_000_000_000)


def test_each_user_has_its_own_limit(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path / "rates", 1)

    assert [limit.allow(f"user-{number}", NOW) for number in range(50)] == [True] * 50
    assert [limit.allow(f"user-{number}", NOW) for number in range(50)] == [False] * 50


def test_two_workers_count_in_the_same_file(tmp_path: Path) -> None:
    one, other = (SharedRateLimit(tmp_path / "rates", LIMIT) for _ in range(2))

    allowed = [worker.allow("user", NOW) for worker in (one, other, one, other, one)]

    assert allowed == [True, True, True, False, False]


def test_processes_that_count_at_the_same_time_share_the_limit(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COUNT_IN_A_PROCESS, str(tmp_path / "rates")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    allowed = sum(int(process.communicate(timeout=60)[0]) for process in processes)

    # A worker that is interrupted for long while it holds the lock lets single requests pass.
    assert 200 <= allowed < 210


def test_one_worker_at_a_time_holds_the_lock(tmp_path: Path) -> None:
    one, other = (SharedRateLimit(tmp_path / "rates", LIMIT) for _ in range(2))

    one.allow("user", NOW)

    assert other.lock(), "counting releases the lock"
    assert not one.lock()


def test_a_slot_is_reused_when_its_user_is_quiet(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path / "rates", LIMIT)
    limit._slots = PROBES  # every user competes for the same slots

    busy = [limit.allow(f"user-{number}", NOW + number) for number in range(PROBES)]
    late = [limit.allow("late", NOW + PROBES) for _ in range(LIMIT + 1)]
    counts = [limit.count(f"user-{number}", NOW + PROBES) for number in range(1, PROBES)]

    assert busy == [True] * PROBES
    assert late == [True] * LIMIT + [False], "the user that was quiet for longest is forgotten"
    assert counts == [1] * (PROBES - 1), "and only this one"


def test_a_request_beyond_the_limit_can_be_counted_in_place_of_the_oldest() -> None:
    limit = SharedRateLimit(None, LIMIT)

    for number in range(LIMIT + 1):
        limit.add("here", NOW + number)

    assert limit.count("here", NOW + LIMIT) == LIMIT
    assert limit.count("here", NOW + WINDOW_NS + LIMIT - 1) == 1
    assert limit.count("elsewhere", NOW) == 0


def test_the_latest_request_is_uncounted() -> None:
    limit = SharedRateLimit(None, LIMIT)
    limit.add("here", NOW)
    limit.add("here", NOW + 1)

    counts = []
    for _ in range(3):
        limit.cancel("here", NOW + 2)
        counts.append(limit.count("here", NOW + 2))

    assert counts == [1, 0, 0]


def test_forked_workers_count_together_without_a_file() -> None:
    limit = SharedRateLimit(None, LIMIT)

    worker = multiprocessing.get_context("fork").Process(target=limit.add, args=("here", NOW))
    worker.start()
    worker.join(60)

    assert limit.count("here", NOW) == 1


def test_times_from_before_a_restart_of_the_machine_do_not_count(tmp_path: Path) -> None:
    limit = SharedRateLimit(tmp_path / "rates", 1)
    assert limit.allow("user", NOW)

    assert limit.allow("user", NOW - 4 * WINDOW_NS)


def test_a_worker_that_stops_while_it_holds_the_lock_stops_nobody(tmp_path: Path) -> None:
    stopped, working = (SharedRateLimit(tmp_path / "rates", 1) for _ in range(2))

    assert stopped.lock()

    assert [working.allow("user", NOW) for _ in range(2)] == [True, False]


def test_without_space_for_the_file_each_worker_counts_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")

    limit = SharedRateLimit(tmp_path / "file" / "rates", 1)

    assert [limit.allow("user", NOW) for _ in range(2)] == [True, False]


def test_the_file_is_small_and_private_whatever_the_limit(tmp_path: Path) -> None:
    for limit in (1, 100, 1_000_000):
        path = tmp_path / f"rates-{limit}"
        SharedRateLimit(path, limit)

        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    sizes = [(tmp_path / f"rates-{limit}").stat().st_size for limit in (1, 100)]
    assert max(sizes) <= shared_rate_limit.BYTES_MAX
