"""The names of marketplace products as one text, for a line on an invoice."""

from collections.abc import Sequence

# See docs/choices.md, marketplace-products.

SHOWN_MAX = 3


def join_product_names(names: Sequence[str]) -> str:
    """Name the first products and count the others: `A, B, C (+2)`."""
    shown = ", ".join(names[:SHOWN_MAX])
    others = len(names) - SHOWN_MAX
    return f"{shown} (+{others})" if others > 0 else shown
