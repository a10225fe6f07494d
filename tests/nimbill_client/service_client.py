"""A client of the service in the test process."""

from __future__ import annotations

import httpx

from nimbill.identity.organisations.operations import NewOrganisation
from nimbill_client import Client
from tests.running_service import Service


class ServiceTransport(httpx.BaseTransport):
    """Sends requests to the service without a network."""

    def __init__(self, service: Service) -> None:
        self._transport = service.http._transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._transport.handle_request(request)


def connect(service: Service, organisation: NewOrganisation, **user: str) -> Client:
    """Connect as an API client of the organisation, or as a user with username and password."""
    return Client(
        "http://127.0.0.1:8080",
        client_id=organisation.client_id,
        client_secret=organisation.client_secret,
        transport=ServiceTransport(service),
        **user,  # type: ignore[arg-type]
    )
