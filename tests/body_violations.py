"""Check a request body against its rules without sending a request."""

from __future__ import annotations

import json
from typing import Any

from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid
from nimbill.http.request_bodies import Body, parse_body


def find_body_violations(body_class: type[Body], sent: Any) -> list[tuple[str, str]]:
    """Return field and rule of every violation, as a response with status 400 lists them."""
    parsed = exact_json.decode(json.dumps(sent).encode())
    try:
        parse_body(body_class, parsed)
    except Invalid as refusal:
        return [(violation.field, violation.rule) for violation in refusal.violations]
    return []
