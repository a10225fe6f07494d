"""Requests go to a checked address under the name of the endpoint, and nowhere else."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from nimbill.foundation import clock
from nimbill.foundation.settings import Network
from nimbill.webhooks import http_sender
from nimbill.webhooks.bodies import DeliveryError
from nimbill.webhooks.http_sender import Attempt, send_request
from tests.webhooks.receiver import Receiver, running_receiver

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
NAME = "receiver.test"
REFUSED = Attempt(None, DeliveryError.address_refused)


def post(url: str, networks: tuple[Network, ...] = LOOPBACK) -> Attempt:
    return asyncio.run(send_request(url, {"webhook-id": "evt_1"}, b"{}", networks))


class NameServer:
    """Answers each question about a name in .test with the next list; the last one stays.

    It knows no other name: services of other tests may send webhooks in this process.
    """

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.questions: list[str] = []

    def look_up(self, host: str, port: int, **_: Any) -> list[Any]:
        if not host.endswith(".test"):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        self.questions.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        families = {4: socket.AF_INET, 6: socket.AF_INET6}
        return [
            (families[ip_address(ip.partition("%")[0]).version], 1, 6, "", (ip, port))
            for ip in answer
        ]


@contextmanager
def names_resolved(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> Iterator[NameServer]:
    """Only the sender asks this name server; the connection itself uses addresses."""
    server = NameServer(*answers)
    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", server.look_up)
        yield server


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "224.0.0.1"]
)
def test_a_name_with_an_address_that_is_not_public_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    with names_resolved(monkeypatch, [address]):
        assert post(f"https://{NAME}/", networks=()) == REFUSED


def test_one_address_that_is_not_public_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with names_resolved(monkeypatch, ["1.1.1.1", "10.0.0.1"]):
        assert post(f"https://{NAME}/", networks=()) == REFUSED


def test_an_address_in_the_url_is_refused_too() -> None:
    assert post("https://127.0.0.1/", networks=()) == REFUSED
    assert post("https://[::ffff:127.0.0.1]/", networks=()) == REFUSED
    assert post("http://user@127.0.0.1/") == REFUSED


def test_http_is_not_sent_to_a_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with names_resolved(monkeypatch, ["1.1.1.1"]):
        assert post(f"http://{NAME}/") == REFUSED


def test_the_name_is_resolved_once_and_the_connection_goes_to_the_checked_address(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    """A second answer of the name server, after the check, is never asked for."""
    with names_resolved(monkeypatch, ["127.0.0.1"], ["10.0.0.1"]) as names:
        attempt = post(f"http://{NAME}:{receiver.port}/hook")

    assert attempt == Attempt(204, None)
    assert names.questions == [NAME]
    assert receiver.received[0].headers["host"] == f"{NAME}:{receiver.port}"


def test_the_next_address_is_tried_if_one_accepts_no_connection(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    with names_resolved(monkeypatch, ["::1", "127.0.0.1"]):
        assert post(f"http://{NAME}:{receiver.port}/") == Attempt(204, None)


def test_an_unknown_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", fail)

    assert post(f"https://{NAME}/") == Attempt(None, DeliveryError.dns)
    assert post(f"https://{'a' * 64}.test/") == Attempt(None, DeliveryError.dns)


def test_a_closed_port_is_reported() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    assert post(f"http://127.0.0.1:{port}/") == Attempt(None, DeliveryError.connection)


def test_proxies_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9/")

    assert post(receiver.url) == Attempt(204, None)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (200, None),
        (299, None),
        (301, DeliveryError.redirect),
        (308, DeliveryError.redirect),
        (400, DeliveryError.status),
        (410, DeliveryError.gone),
        (500, DeliveryError.status),
    ],
)
def test_the_status_decides(receiver: Receiver, status: int, error: DeliveryError | None) -> None:
    receiver.status = status

    assert post(receiver.url) == Attempt(status, error)
    assert len(receiver.received) == 1


# ── TLS ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def tls_receiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver with a certificate for NAME that the sender trusts."""
    file = tmp_path / "receiver.pem"
    file.write_bytes(_create_certificate())
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    trusting = ssl.create_default_context(cafile=file)
    monkeypatch.setattr(http_sender, "get_tls_context", lambda: trusting)
    with running_receiver(server) as receiver:
        yield receiver


def _create_certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(clock.now() - timedelta(days=1))
        .not_valid_after(clock.now() + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ) + certificate.public_bytes(serialization.Encoding.PEM)


def test_tls_verifies_the_name_although_the_connection_goes_to_an_address(
    monkeypatch: pytest.MonkeyPatch, tls_receiver: Receiver
) -> None:
    with names_resolved(monkeypatch, ["127.0.0.1"]):
        right = post(f"https://{NAME}:{tls_receiver.port}/")
        wrong = post(f"https://other.test:{tls_receiver.port}/")

    assert right == Attempt(204, None)
    assert wrong == Attempt(None, DeliveryError.tls)
    assert len(tls_receiver.received) == 1


def test_an_untrusted_certificate_is_refused(
    monkeypatch: pytest.MonkeyPatch, tls_receiver: Receiver
) -> None:
    monkeypatch.undo()
    with names_resolved(monkeypatch, ["127.0.0.1"]):
        attempt = post(f"https://{NAME}:{tls_receiver.port}/")

    assert attempt == Attempt(None, DeliveryError.tls)
    assert tls_receiver.received == []
