"""What a username and a password may be."""

import re
from collections.abc import Iterator

from nimbill.basis import stated
from nimbill.errors import Violation

basis = stated("Subuser creation body")

USERNAME_LENGTH_MIN = 4
USERNAME_LENGTH_MAX = 18
PASSWORD_LENGTH_MIN = 8
PASSWORD_LENGTH_MAX = 18
_USERNAME = re.compile(r"[A-Za-z0-9_.-]{4,18}")


def username_violations(username: str) -> Iterator[Violation]:
    if not _USERNAME.fullmatch(username):
        yield Violation("username", "4 to 18 letters, digits, _, . or -")


def password_violations(password: str) -> Iterator[Violation]:
    """Counted in code points as received: nothing is trimmed or folded."""
    if not PASSWORD_LENGTH_MIN <= len(password) <= PASSWORD_LENGTH_MAX:
        yield Violation("password", f"length {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX}")
