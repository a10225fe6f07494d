"""Rules of usernames and passwords."""

import re
from collections.abc import Iterator
from typing import Any

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("Subuser creation body")

PASSWORD_LENGTH_MIN = 8
PASSWORD_LENGTH_MAX = 18

_USERNAME = re.compile(r"[A-Za-z0-9_.-]{4,18}")

reserved_basis = chosen("reserved-usernames")
# Path segments of routes that also accept a username at this position.
RESERVED_USERNAMES = frozenset({"role", "roles", "templates", "userroles", "permissions"})


def find_username_violations(username: Any) -> Iterator[Violation]:
    if not isinstance(username, str) or not _USERNAME.fullmatch(username):
        yield Violation("username", "4 to 18 letters, digits, _, . or -")
    elif username.lower() in RESERVED_USERNAMES or not username.strip("."):
        yield Violation("username", "not a reserved word")


def find_password_violations(password: Any, field: str = "password") -> Iterator[Violation]:
    """The length is counted in code points; nothing is trimmed or normalised."""
    shortest, longest = PASSWORD_LENGTH_MIN, PASSWORD_LENGTH_MAX
    if not isinstance(password, str) or not shortest <= len(password) <= longest:
        yield Violation(field, f"length {shortest} to {longest}")
