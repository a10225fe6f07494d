"""Lists that are read page by page."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

RECORDS_PER_PAGE = 500


def iterate_pages(read_page: Callable[[dict[str, int]], Sequence[T]]) -> Iterator[T]:
    """Read the next page when it is needed. `read_page` takes `limit` and `offset`.

    Records that are added or deleted meanwhile can move others to another page.
    """
    offset = 0
    while True:
        page = read_page({"limit": RECORDS_PER_PAGE, "offset": offset})
        yield from page
        if len(page) < RECORDS_PER_PAGE:
            return
        offset += len(page)
