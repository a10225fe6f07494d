"""What a username, a password and an e-mail address may be."""

import re
from collections.abc import Iterator
from typing import Any

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("Subuser creation body")

PASSWORD_LENGTH_MIN = 8
PASSWORD_LENGTH_MAX = 18
EMAIL_LENGTH_MAX = 254

_USERNAME = re.compile(r"[A-Za-z0-9_.-]{4,18}")
# no quoting before the @ and no "=?", by which mail encodes what must not stand there; a host of
# plain labels after it; whether it exists is for mail to find
_EMAIL = re.compile(r"(?!.*=\?)[^\s@<>,;:\"()\[\]\\]+@[^\W_][\w-]*(?:\.[^\W_][\w-]*)*")

reserved_basis = chosen("reserved-usernames")
# words that stand where a name stands in a path
RESERVED_USERNAMES = frozenset({"role", "roles", "templates", "userroles", "permissions"})


def username_violations(username: Any) -> Iterator[Violation]:
    if not isinstance(username, str) or not _USERNAME.fullmatch(username):
        yield Violation("username", "4 to 18 letters, digits, _, . or -")
    elif username.lower() in RESERVED_USERNAMES or not username.strip("."):
        yield Violation("username", "not a reserved word")


def password_violations(password: Any, field: str = "password") -> Iterator[Violation]:
    """Counted in code points as received: nothing is trimmed or folded."""
    least, most = PASSWORD_LENGTH_MIN, PASSWORD_LENGTH_MAX
    if not isinstance(password, str) or not least <= len(password) <= most:
        yield Violation(field, f"length {least} to {most}")


def email_violations(email: Any) -> Iterator[Violation]:
    sound = isinstance(email, str) and len(email) <= EMAIL_LENGTH_MAX and email.isprintable()
    if not sound or not _EMAIL.fullmatch(email):
        yield Violation("email", "an e-mail address")
