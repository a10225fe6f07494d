"""Every reason that blocks a step has a text."""

from __future__ import annotations

import re
from pathlib import Path

from nimbill.closing.reconciliation import applied_entries, tie_out
from nimbill.closing.steps import month_steps
from nimbill.closing.steps.operations import BLOCKER_TEXTS

CHOICES = Path(__file__).parents[3] / "docs" / "choices.md"


def list_reasons() -> set[str]:
    """The reasons of the steps, those of the tie-out, and those of the documentation."""
    source = Path(month_steps.__file__).read_text()
    of_steps = re.findall(r'(?:Blocker|_list)\(\s*"([a-z_]+)"', source)
    of_tie_out = [
        value
        for module in (tie_out, applied_entries)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and "_" in value
    ]
    (closing,) = re.findall(
        r"^### closed-months$.*?^### ", CHOICES.read_text(), re.DOTALL | re.MULTILINE
    )
    rows = [line.split("|")[1] for line in closing.splitlines() if line.startswith("| `")]
    documented = [reason for row in rows for reason in re.findall("`([a-z_]+)`", row)]
    return {*of_steps, *of_tie_out, *documented}


def test_every_reason_has_a_text_and_every_text_a_reason() -> None:
    assert list_reasons() == BLOCKER_TEXTS.keys()


def test_a_text_is_one_or_two_sentences() -> None:
    for reason, text in BLOCKER_TEXTS.items():
        assert text[0].isupper(), reason
        assert text.endswith("."), reason
        assert 1 <= text.count(". ") + 1 <= 2, reason
