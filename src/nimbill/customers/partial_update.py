"""Partial updates: which stored fields a request body changes."""

from typing import Any

import msgspec

from nimbill.http.request_bodies import Body


def changed_fields(body: Body) -> dict[str, Any]:
    """Return the fields to store: null or absent changes nothing, "" clears the field."""
    return {
        name: None if value == "" else value
        for name, value in msgspec.structs.asdict(body).items()
        if value is not None
    }
