"""Commands and servers look for reference cycles rarely, and not in what they imported."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, weakref
from nimbill.foundation.garbage_collection import keep_what_is_imported, pause_while_importing

class Node:
    pass

pause_while_importing()
assert not gc.isenabled()
import sqlalchemy
keep_what_is_imported()
print(gc.isenabled(), gc.get_freeze_count() > 10_000)

node = Node()
node.itself, alive = node, weakref.ref(node)
del node
kept = []
while alive() is not None and len(kept) < 10_000_000:
    kept.append([])
print(alive(), 10_000 < len(kept) < 200_000)
"""


def test_what_is_imported_is_kept_and_later_garbage_is_found_after_many_objects() -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )

    assert result.stdout.split() == ["True", "True", "None", "True"], result.stderr
