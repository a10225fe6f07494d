"""What the product writes survives a power loss: contents, names and new folders are synced.

Proof row X3 cuts the power instead, where it can mount a file system of its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.durable_files import DURABLE_FILES
from tests.synced_names import recorded_syncs


@pytest.mark.parametrize("name", DURABLE_FILES)
def test_contents_and_names_are_synced(name: str, tmp_path: Path) -> None:
    with recorded_syncs() as synced:
        files = DURABLE_FILES[name](tmp_path)

    assert files
    for file in files:
        assert synced.has_content(file), file
        assert synced.survives(file, below=tmp_path), file
