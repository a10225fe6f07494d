"""Routes of the web consoles: the page of each console, and the files that it loads."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from litestar import Request, Response
from litestar.params import FromPath
from litestar.response import Redirect

from nimbill.access.gate import Public
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.http.routing import get

_DECLARATION: dict[str, Any] = {
    "audiences": Public("the pages are not secret; they read data with the person's own token"),
    "role_actions": ANY_CALLER,
    "basis": chosen("web-consoles"),
    "include_in_schema": False,
}

# Previews of invoices are shown in a frame from a blob that the page itself made.
CONSOLE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; frame-src blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
CONTENT_TYPES = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
# The better encoding comes first.
ENCODINGS = {"br": ".br", "gzip": ".gz"}


class Asset(NamedTuple):
    """A built file, as it is and compressed by encoding."""

    content: bytes
    compressed: Mapping[str, bytes]


@get("/", **_DECLARATION)
async def redirect_to_console() -> Redirect:
    """Redirect to the reseller's console."""
    return Redirect("/console", status_code=302)


@get(["/console", "/console/{page:path}"], **_DECLARATION)
async def get_console(page: FromPath[str] = "") -> Response[bytes]:  # noqa: ARG001
    """Return the reseller's console. Its script shows the page of the address."""
    return _build_page("console.html")


@get(["/portal", "/portal/{page:path}"], **_DECLARATION)
async def get_portal(page: FromPath[str] = "") -> Response[bytes]:  # noqa: ARG001
    """Return the customers' console. Its script shows the page of the address."""
    return _build_page("portal.html")


@get("/web/assets/{name:str}", **_DECLARATION)
async def get_asset(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return a script, style or font. Its name contains a digest, so it never changes."""
    asset = _read_assets().get(name)
    if asset is None:
        raise not_found()
    accepted = _list_encodings(request.headers.get("accept-encoding", ""))
    encoding = next((each for each in ENCODINGS if each in accepted & asset.compressed.keys()), "")
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Vary": "Accept-Encoding",
    } | ({"Content-Encoding": encoding} if encoding else {})
    content_type = CONTENT_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    content = asset.compressed.get(encoding, asset.content)
    return Response(content, media_type=content_type, headers=headers)


def _build_page(name: str) -> Response[bytes]:
    headers = {"Content-Security-Policy": CONSOLE_POLICY, "Cache-Control": "no-cache"}
    return Response(_read_page(name), media_type="text/html", headers=headers)


@cache
def _read_page(name: str) -> bytes:
    return (files("nimbill.application") / "static" / "web" / name).read_bytes()


@cache
def _read_assets() -> dict[str, Asset]:
    """Read all files once, so that a requested name is never used as a path."""
    folder = files("nimbill.application") / "static" / "web" / "assets"
    contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {
        name: Asset(
            content,
            {
                encoding: contents[name + suffix]
                for encoding, suffix in ENCODINGS.items()
                if name + suffix in contents
            },
        )
        for name, content in contents.items()
        if not name.endswith(tuple(ENCODINGS.values()))
    }


def _list_encodings(header: str) -> set[str]:
    """The encodings that the browser accepts, without those it refuses with `q=0`."""
    accepted = set()
    for part in header.lower().split(","):
        name, _, weight = part.partition(";")
        if weight.strip() not in ("q=0", "q=0.0", "q=0.00", "q=0.000"):
            accepted.add(name.strip())
    return accepted


ROUTES = [redirect_to_console, get_console, get_portal, get_asset]
