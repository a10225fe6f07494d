"""The pages for people say what is so: links lead somewhere, settings and commands are listed."""

import re
from pathlib import Path
from typing import Any

import pytest

from nimbill.commands.command_line import build_app
from nimbill.foundation.settings import read_settings
from nimbill.legacy.settings import read_legacy_settings  # version 3
from tests.commands.declared_commands import list_commands

ROOT = Path(__file__).parents[2]
PAGES = [
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "client/README.md"),
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")),
]


def text(page: str) -> str:
    return (ROOT / page).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", text(page))
    missing = [
        link
        for link in links
        if not link.startswith("https://") and not ((ROOT / page).parent / link).exists()
    ]

    assert missing == []


def test_every_place_of_the_table_in_contributing_exists() -> None:
    (table,) = re.findall(r"## Where is …\?\n(.*?)\n## ", text("CONTRIBUTING.md"), re.DOTALL)
    places = re.findall(r"`([a-z_]+(?:/[a-z_*]+)*(?:\.py)?)`", table)
    roots = [ROOT, ROOT / "src/nimbill"]
    packages = [*roots, *(ROOT / "src/nimbill").glob("*/"), *(ROOT / "src/nimbill").glob("*/*/")]
    missing = [place for place in places if not any(any(root.glob(place)) for root in packages)]

    assert len(places) > 25
    assert missing == ["code"]  # a word, not a place


def test_the_readme_names_every_command() -> None:
    named = set(re.findall(r"^\| `nimbill ([\w-]+)", text("README.md"), re.MULTILINE))

    assert named == {name for name in build_app([]) if not name.startswith("-")}


def test_the_page_about_operating_names_every_command_and_subcommand() -> None:
    (table,) = re.findall(
        r"## The command line\n\n(\|.*?)\n\n", text("docs/operating.md"), re.DOTALL
    )
    named = re.findall(r"`nimbill ([\w -]+)`", table)

    assert sorted(named) == sorted(command.name for command in list_commands())


def test_every_setting_is_listed_with_its_default() -> None:
    listed = dict(
        re.findall(r"^\| `(NIMBILL_\w+)` \| (.*?) \|", text("docs/operating.md"), re.MULTILINE)
    )
    settings = read_settings({})
    holders: list[Any] = [settings]
    holders.append(read_legacy_settings(settings))  # version 3
    sources = text("src/nimbill/foundation/settings.py")
    sources += text("src/nimbill/legacy/settings.py")  # version 3

    # the last is no setting: `serve` tells its workers where it listens
    assert set(listed) == set(re.findall(r"NIMBILL_[A-Z_]+", sources)) - {
        "NIMBILL_",
        "NIMBILL_LISTENS_AT",
    }
    for name, default in listed.items():
        field = name.removeprefix("NIMBILL_").removeprefix("LEGACY_").lower()
        value = next(getattr(holder, field) for holder in holders if hasattr(holder, field))
        if isinstance(value, int) or name == "NIMBILL_BASE_URL":
            assert default == f"`{value}`", name
        elif name in ("NIMBILL_AUTH_URL", "NIMBILL_LEGACY_URL"):
            assert (default, value) == ("= `NIMBILL_BASE_URL`", settings.base_url)
        elif not value:
            assert default.startswith("none"), name
