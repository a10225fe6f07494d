"""The profit as a share of the sales."""

from decimal import Decimal

from nimbill.foundation.money import divide_decimals

RATE_UNIT = Decimal("0.0001")


def calculate_rate(profit: Decimal, sales: Decimal) -> Decimal | None:
    """Profit divided by sales, rounded half up to four decimals; None without sales."""
    if not sales:
        return None
    return divide_decimals(profit, sales, RATE_UNIT)
