"""Rooms keep to themselves: nobody reads another room's bodies or routes."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "nimbill"
THE_ROOF = {"app.py"}  # puts the routes together


def intrusions(source: Path) -> Iterator[str]:
    """Imports of a room's bodies or routes from outside the room."""
    for file in sorted(source.rglob("*.py")):
        room = file.relative_to(source).parts[0]
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")
                private = len(parts) == 3 and parts[2] in ("bodies", "routes")
                if private and parts[1] != room and room not in THE_ROOF:
                    yield f"{file.relative_to(source)} reads {node.module}"


def test_nobody_reads_another_rooms_bodies() -> None:
    assert list(intrusions(SOURCE)) == []


def test_an_intrusion_is_seen(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "operations.py").write_text(
        "from nimbill.identity.users.bodies import Subuser\n"
    )

    assert list(intrusions(tmp_path)) == [
        "projects/operations.py reads nimbill.identity.users.bodies"
    ]
