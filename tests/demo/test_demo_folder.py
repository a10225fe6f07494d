"""The folder of the demo: only the demo's own data, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from nimbill.demo import run
from nimbill.demo.api_client import DemoError
from nimbill.demo.logins import FILE_NAME
from tests.command_line import build_environment
from tests.commands.run_command import run_command
from tests.proof.real_server import free_port


@pytest.mark.parametrize("content", ["key", "postgres", ".hidden", "report.csv"])
def test_a_folder_with_other_data_is_refused_and_not_changed(tmp_path: Path, content: str) -> None:
    (tmp_path / content).write_text("other data")

    result = run_command("demo", "--port", str(free_port()), env=build_environment(tmp_path))

    assert result.returncode == 2
    assert result.stderr.startswith(f"nimbill: {tmp_path} contains other data")
    assert [file.name for file in tmp_path.iterdir()] == [content]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(DemoError, match="is not a folder"):
        run._claim_folder(file)


def test_a_new_and_an_empty_folder_become_the_demo_folder(tmp_path: Path) -> None:
    for folder in (tmp_path / "new", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)

        run._claim_folder(folder)
        (folder / "postgres").mkdir()  # the demo was interrupted before it stored its logins

        run._claim_folder(folder)


def test_the_folder_of_an_earlier_demo_is_used_again(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("{}")

    run._claim_folder(tmp_path)

    assert (tmp_path / run.MARKER).exists()
