"""The rule of e-mail addresses."""

import re
from collections.abc import Iterator
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("subuser-record")

EMAIL_LENGTH_MAX = 254

# The local part has no quotes and no "=?" (an encoded word could hide another address in a mail
# header); the host consists of plain labels. Whether the address exists is not checked.
_EMAIL = re.compile(r"(?!.*=\?)[^\s@<>,;:\"()\[\]\\]+@[^\W_][\w-]*(?:\.[^\W_][\w-]*)*")


def find_email_violations(email: Any, field: str = "email") -> Iterator[Violation]:
    printable = isinstance(email, str) and len(email) <= EMAIL_LENGTH_MAX and email.isprintable()
    if not printable or not _EMAIL.fullmatch(email):
        yield Violation(field, "an e-mail address")
