"""The number of an invoice in SQL, for searching in it."""

from typing import Any

import sqlalchemy as sa

# See docs/choices.md, invoice-numbers.


def select_invoice_no(
    month: sa.ColumnElement[Any], number: sa.ColumnElement[Any]
) -> sa.ColumnElement[str]:
    """Build the number as `format_invoice_no` writes it, such as 202609-0012."""
    digits = sa.func.to_char(number, "FM9999990000")  # ten digits, as an integer has
    return sa.func.replace(month, "-", "") + "-" + digits
