"""End a child process when its parent process has died."""

import os
import threading
import time
from collections.abc import Callable

POLL_SECONDS = 0.5


def watch_parent(end_process: Callable[[], None]) -> None:
    """Call `end_process` in a background thread as soon as the parent process has died."""
    threading.Thread(target=_wait_for_end, args=(os.getppid(), end_process), daemon=True).start()


def _wait_for_end(parent: int, end_process: Callable[[], None]) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    end_process()
