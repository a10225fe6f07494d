"""`make` lists its targets, and targets that start together share one set-up."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_listed_target_is_phony() -> None:
    """A folder with the name of a target, as `bench`, would otherwise be the target."""
    listed = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", "")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    names = {line.split()[0] for line in listed.splitlines()}

    assert {"demo", "test"} <= names <= set(phony.split())


SLOW_SETUP = """
include original.mk

.venv/bin/uv .venv/.synced:
	@mkdir -p $(@D) && touch $@

.venv/.ready:
	@echo begin >> setups && sleep 0.5 && echo end >> setups && touch $@
"""

SETUP_FILES = (
    "pyproject.toml",
    "hatch_build.py",
    "requirements/uv.txt",
    "requirements/dev.txt",
    "src/nimbill/application/static/api/index.html",
    "src/nimbill/application/static/web/console.html",
    "src/nimbill/application/static/web/portal.html",
    "src/nimbill/invoicing/pdf/fonts/LICENSE",
)


def test_two_targets_that_start_together_prepare_the_environment_once(tmp_path: Path) -> None:
    (tmp_path / "original.mk").write_bytes((ROOT / "Makefile").read_bytes())
    (tmp_path / "environment.mk").write_bytes((ROOT / "environment.mk").read_bytes())
    (tmp_path / "Makefile").write_text(SLOW_SETUP)
    for file in SETUP_FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()

    started = [
        subprocess.Popen(["make", "setup"], cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(2)
    ]
    errors = [process.communicate(timeout=60)[1].decode() for process in started]

    assert [process.returncode for process in started] == [0, 0], errors
    assert (tmp_path / "setups").read_text().split() == ["begin", "end"]
