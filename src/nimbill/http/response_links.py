"""Links of the OpenAPI document: which operation takes the values that a response contains.

A value is a runtime expression of OpenAPI, such as `$response.body#/company_id`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ResponseLink:
    """From a successful response to another operation."""

    target: str  # the name of the function that handles the other operation
    parameters: Mapping[str, str] = field(default_factory=dict)  # as the document names them
    body: Mapping[str, Any] | None = None  # the fields that are known; the client adds the others


# by the name of the function that handles the operation whose response contains the values
ResponseLinks = Mapping[str, Sequence[ResponseLink]]
