"""`nimbill demo`: run the product with demo data."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from nimbill.application.installed import list_unknown_settings
from nimbill.commands.command_settings import warn_about_settings
from nimbill.commands.console import Port
from nimbill.demo.monthly_data import MONTHS_MAX, MONTHS_MIN
from nimbill.demo.run import run_demo

Months = Annotated[int, Parameter(validator=Number(gte=MONTHS_MIN, lte=MONTHS_MAX))]


def demo(*, port: Port = 8080, months: Months = MONTHS_MAX) -> None:
    """Run the product with demo data: a reseller, its customers, and commands to try.

    The data is kept in .nimbill-demo or in the folder that NIMBILL_DATA names, on an embedded
    PostgreSQL. NIMBILL_DATABASE_URL is ignored. A folder with other data is refused.

    Parameters
    ----------
    port
        Port to listen on.
    months
        Number of months to create; the first start is faster with fewer months.
    """
    warn_about_settings(list_unknown_settings())
    run_demo(port, months)
