"""Adds links to the OpenAPI document, so that a client or a tester can follow ids."""

from collections.abc import Iterator, Mapping
from typing import Any

from nimbill.http.response_links import ResponseLink, ResponseLinks

# A link of OpenAPI may have a `requestBody`, but published generators of clients accept only texts
# in it and refuse a document with objects.
LINK_BODY = "x-request-body"
BODY_DESCRIPTION = "The fields of the request that are known from here; the client adds the others."


def add_links(operations: Mapping[str, dict[str, Any]], links_by_operation: ResponseLinks) -> None:
    """`operations` are those of the document, by the name of the function that handles them.

    A link is named after its target. Operations and targets that do not exist raise KeyError.
    """
    for source, links in links_by_operation.items():
        for response in _iterate_successes(operations[source]):
            response["links"] = {
                link.target: _format_link(link, operations[link.target]) for link in links
            }


def _iterate_successes(operation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield response


def _format_link(link: ResponseLink, target: Mapping[str, Any]) -> dict[str, Any]:
    formatted: dict[str, Any] = {"operationId": target["operationId"]}
    if link.parameters:
        formatted["parameters"] = dict(link.parameters)
    if link.body is not None:
        formatted |= {LINK_BODY: dict(link.body), "description": BODY_DESCRIPTION}
    return formatted
