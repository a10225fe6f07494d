"""Request and response bodies of saved filters."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from nimbill.foundation import exact_json
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, text_length

CONTENT_BYTES_MAX = 8_192


class SavedFilterCreate(Body, frozen=True, kw_only=True):
    """The pages decide what the content means; the service only keeps it."""

    basis: ClassVar[Basis] = chosen("saved-filters")

    name: Annotated[str, text_length(1, 100)]
    content: dict[str, Any]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if len(exact_json.encode(sent.get("content"))) > CONTENT_BYTES_MAX:
            yield Violation("content", f"at most {CONTENT_BYTES_MAX // 1024} KiB as JSON")


class SavedFilter(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("saved-filters")

    filter_id: str
    name: str
    content: dict[str, Any]
