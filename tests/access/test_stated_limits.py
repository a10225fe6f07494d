"""The table of limits in docs/security.md, and the limits of the program."""

from __future__ import annotations

import re
from pathlib import Path

from nimbill.access.login_failures import OF_ADDRESS, OF_CLIENT, OF_NAME, OF_SECOND_STEP, WINDOW_MAX
from nimbill.access.shared_rate_limit import WINDOW_NS
from nimbill.foundation.settings import read_settings

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
FAILURES = {
    "wrong passwords for a user name, whether or not it exists": OF_NAME,
    "wrong passwords of a user from a known client or browser": OF_NAME,
    "wrong proofs of a second factor of a user": OF_SECOND_STEP,
    "wrong old passwords of a user who is signed in": OF_NAME,
    "failures of a network address (IPv6: of a /64 network)": OF_ADDRESS,
    "wrong passwords through an API client": OF_CLIENT,
}


def read_limits() -> dict[str, str]:
    """Return the limits of the section by what is counted."""
    section = (
        PAGE.read_text().partition("\n## How a request is throttled\n")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| (.+?) \| (\d.+?) \| .+ \|$", section, re.MULTILINE)
    return dict(rows)


def test_the_page_states_every_limit() -> None:
    assert WINDOW_NS == 10**9
    expected = {"requests of a user": f"{read_settings({}).rate_limit} in any second"}
    for counted, limit in FAILURES.items():
        minutes = int(limit.window.total_seconds() / 60)
        unit = "minute" if minutes == 1 else "minutes"
        expected[counted] = f"{limit.failures_max} in {minutes} {unit}"

    assert read_limits() == expected


def test_old_failures_are_kept_for_the_longest_window() -> None:
    assert max(limit.window for limit in FAILURES.values()) == WINDOW_MAX
