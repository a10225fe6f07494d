"""No severe finding in the sources, no unpinned dependency, and no start with a bad key file.

The security linter finds nothing of high severity. Every requirement is pinned by hash, and
security relevant packages are not older than their minimum. A key file that is empty, short,
known or readable by others is refused, in this process and by real processes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from packaging.version import Version

from nimbill.foundation.encryption import KeyFileError, load_or_create_key
from tests.code_rules import rules
from tests.fault_injection.replacements import write_replaced_sources
from tests.proof.broken_variants import BrokenVariant
from tests.proof.real_server import environment_for, try_to_serve
from tests.proof.row import Measurement
from tests.proof.row_environment import ROOT, RowEnvironment

TARGET = (
    "0 findings of high severity, 0 unpinned, 0 below their minimum version, 0 starts with a "
    "bad key"
)
SHORT = 1
QUICK = 2  # real processes; every case is also tried in this process
FULL = 14
SECONDS_MAX = 600

REFUSED = 2

# the oldest versions that were ever locked
MINIMUM_VERSIONS: Mapping[str, str] = {
    "argon2-cffi": "25.1.0",
    "asyncpg": "0.32.0",
    "cryptography": "50.0.2",
    "granian": "2.8.7",
    "litestar": "2.25.0",
    "msgspec": "0.22.0",
    "multipart": "2.0.1",
    "pyjwt": "2.15.1",
    "sqlalchemy": "2.1.8",
}

GOOD = sha256(b"a key of the proof alone, and of no installation").hexdigest()

# content and mode of key files that must be refused
BAD_KEYS: Mapping[str, tuple[str, int]] = {
    "known: the hash of a word": (sha256(b"changeme").hexdigest(), 0o400),
    "empty": ("", 0o400),
    "short": (GOOD[:-2], 0o400),
    "long": (GOOD + "00", 0o400),
    "no hexadecimal digits": ("correct horse battery staple, all of it", 0o400),
    "zeros": ("00" * 32, 0o400),
    "one repeated byte": ("a5" * 32, 0o400),
    "four repeated bytes": ("deadbeef" * 8, 0o400),
    "counting up": (bytes(range(32)).hex(), 0o400),
    "counting down": (bytes(reversed(range(32))).hex(), 0o400),
    "known: the hash of nothing": (sha256(b"").hexdigest(), 0o400),
    "readable by everybody": (GOOD, 0o444),
    "readable by the group": (GOOD, 0o440),
    "writable by others": (GOOD, 0o602),
}


def measure(environment: RowEnvironment, size: int) -> Measurement:
    findings = _severe_findings(environment)
    unpinned = rules.requirements_without_hash(ROOT) + rules.lock_files_with_hosts(ROOT)
    old = _find_old_versions()
    accepted = _keys_accepted_by_processes(environment, size) + _keys_accepted_here(environment)
    figures = (
        f"{len(findings)} severe findings, {len(unpinned)} unpinned, {len(old)} of "
        f"{len(MINIMUM_VERSIONS)} below their minimum; {len(BAD_KEYS)} bad keys in this process "
        f"and {min(size, len(BAD_KEYS))} in real processes: {len(accepted)} accepted"
    )
    return Measurement(figures, findings + unpinned + old + accepted)


def _severe_findings(environment: RowEnvironment) -> list[str]:
    changed = write_replaced_sources(environment.new_folder("s1-sources"))
    arguments = ["-m", "bandit", "--quiet", "--configfile", "pyproject.toml", "--format", "json"]
    result = subprocess.run(
        [
            sys.executable,
            *arguments,
            "--severity-level",
            "high",
            "--recursive",
            "src",
            "client/src",
            *map(str, changed),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(result.stdout)
    assert report["metrics"]["_totals"]["loc"] > 1000, "the linter checked nothing"
    return [
        f"severe finding: {found['filename']}:{found['line_number']} {found['test_id']}"
        for found in report["results"]
    ]


def _find_old_versions() -> list[str]:
    old = []
    locks = {file.name: file.read_text() for file in (ROOT / "requirements").glob("*.txt")}
    for name, minimum in MINIMUM_VERSIONS.items():
        pinned = re.search(rf"^{name}(?:\[.*\])?==(\S+)", locks["run.txt"], re.MULTILINE)
        for where, found in (("installed", version(name)), ("locked", pinned and pinned[1])):
            if found is None or Version(found) < Version(minimum):
                old.append(f"{name} {where} is {found}, older than {minimum}")
    return old


def _keys_accepted_here(environment: RowEnvironment) -> list[str]:
    accepted = []
    folder = environment.new_folder("s1-keys")
    load_or_create_key(_key_file(folder, "good", GOOD, 0o400))
    for name, (content, mode) in BAD_KEYS.items():
        try:
            load_or_create_key(_key_file(folder, name, content, mode))
        except KeyFileError:
            continue
        accepted.append(f"accepted in this process: a key file that is {name}")
    return accepted


def _keys_accepted_by_processes(environment: RowEnvironment, size: int) -> list[str]:
    accepted = []
    for name, (content, mode) in list(BAD_KEYS.items())[:size]:
        data = environment.new_folder("s1")
        key_file = _key_file(data, "key", content, mode)
        tried = try_to_serve(
            environment_for(
                data,
                {
                    "NIMBILL_KEY_FILE": str(key_file),
                    "NIMBILL_DATABASE_URL": environment.postgres.url,
                },
            )
        )
        # the message may be wrapped, also inside a path
        output = "".join(tried.output.split())
        if tried.answered or tried.code != REFUSED or "".join(str(key_file).split()) not in output:
            accepted.append(f"started with a key file that is {name}: {tried}")
    return accepted


def _key_file(folder: Path, name: str, content: str, mode: int) -> Path:
    file = folder / name.replace(" ", "-").replace(":", "")
    file.write_text(content)
    file.chmod(mode)
    return file


VARIANTS = [
    BrokenVariant(
        "guessable-key",
        "A guessable key is accepted.",
        "started with a key file that is known: the hash of a word",
        "foundation/encryption.py",
        "if _is_guessable(key):",
        "if False:",
    ),
    BrokenVariant(
        "key-readable-by-group",
        "A key file that the group can read is accepted.",
        "accepted in this process: a key file that is readable by the group",
        "foundation/encryption.py",
        "if file.stat().st_mode & 0o077:",
        "if file.stat().st_mode & 0o007:",
    ),
    BrokenVariant(
        "shell",
        "A folder is emptied by a shell command that contains its name.",
        "severe finding",
        "application/server.py",
        "shutil.rmtree(folder, ignore_errors=True)",
        'os.system(f"rm -rf {folder}")',
    ),
]
