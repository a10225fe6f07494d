"""A typed client of the Nimbill API."""

from nimbill_client import bodies
from nimbill_client.bodies import *  # noqa: F403
from nimbill_client.client import Client
from nimbill_client.clock import Clock
from nimbill_client.errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    LoginFailed,
    NimbillError,
    NotAuthenticated,
    NotFound,
    Problem,
    TooManyRequests,
    Unavailable,
    UnexpectedResponse,
    Violation,
    WaitTimeout,
)
from nimbill_client.record import BilledVendor, Record, Vendor
from nimbill_client.version import VERSION

__version__ = VERSION

# fmt: off
__all__ = [
    "VERSION", "ApiError", "BilledVendor", "Client", "Clock", "Conflict", "ConnectionFailed",
    "Forbidden", "InvalidRequest", "LoginFailed", "NimbillError", "NotAuthenticated", "NotFound",
    "Problem", "Record", "TooManyRequests", "Unavailable", "UnexpectedResponse", "Vendor",
    "Violation", "WaitTimeout", "__version__",
]
# fmt: on
__all__ += bodies.__all__
