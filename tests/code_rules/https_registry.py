"""A package registry on loopback whose certificate only a given bundle trusts."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PACKAGE = "nimbill-probe"
WHEEL = "nimbill_probe-1.0-py3-none-any.whl"


@contextmanager
def https_registry(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the address, and the bundle with the certificate of its authority."""
    bundle, chain = write_certificates(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}", bundle
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Registry(BaseHTTPRequestHandler):
    """Answers pip and uv with one empty package, and `npm ping`."""

    def do_GET(self) -> None:
        if self.path == f"/simple/{PACKAGE}/":
            self._answer("text/html", f'<a href="/files/{WHEEL}">{WHEEL}</a>'.encode())
        elif self.path == f"/files/{WHEEL}":
            self._answer("application/zip", build_wheel())
        elif self.path.startswith("/-/ping"):
            self._answer("application/json", b"{}")
        else:
            self.send_error(404)

    do_HEAD = do_GET  # noqa: N815

    def _answer(self, content_type: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Print nothing."""


def build_wheel() -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        metadata = f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n"
        archive.writestr("nimbill_probe-1.0.dist-info/METADATA", metadata)
        archive.writestr(
            "nimbill_probe-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("nimbill_probe-1.0.dist-info/RECORD", "")
    return content.getvalue()


def write_certificates(folder: Path) -> tuple[Path, Path]:
    """The bundle of the authority, and the server's certificate with its key."""
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the proxy")])
    server = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    bundle, chain = folder / "bundle.pem", folder / "server.pem"
    certificate = (
        build_certificate(authority, authority, authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    bundle.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    signed = (
        build_certificate(server, authority, server_key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(address, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    key = server_key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    chain.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + key)
    return bundle, chain


def build_certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )
