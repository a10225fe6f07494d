"""Creates one organisation per demo reseller and stores its login beside the data."""

import base64
import json
import os
import secrets
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from nimbill.database.tenant_scope import create_app_engine
from nimbill.demo.resellers import RESELLERS, DemoReseller
from nimbill.foundation.encryption import Encryptor
from nimbill.identity.organisations.operations import create_organisation

FILE_NAME = "demo.json"


@dataclass(slots=True, repr=False)
class DemoLogin:
    """The login of a reseller, and the seed steps that were completed for it."""

    organisation_id: str
    username: str
    password: str
    client_id: str
    client_secret: str
    completed_steps: list[str]


DemoLogins = dict[str, DemoLogin]  # by the English name of the reseller


async def create_missing_logins(url: str, encryptor: Encryptor, folder: Path) -> DemoLogins:
    """Create an organisation for each reseller that has none, as `nimbill init` does."""
    logins = read_logins(folder)
    for reseller in RESELLERS:
        if reseller.english_name not in logins:
            logins[reseller.english_name] = await _create_login(url, encryptor, reseller)
            save_logins(folder, logins)
    return logins


async def _create_login(url: str, encryptor: Encryptor, reseller: DemoReseller) -> DemoLogin:
    password = secrets.token_urlsafe(12)
    engine = create_app_engine(url)
    try:
        organisation = await create_organisation(
            engine,
            encryptor,
            name=reseller.english_name,
            username=reseller.username,
            password=password,
        )
    finally:
        await engine.dispose()
    return DemoLogin(
        organisation_id=organisation.organisation_id,
        username=organisation.username,
        password=password,
        client_id=organisation.client_id,
        client_secret=organisation.client_secret,
        completed_steps=[],
    )


def read_logins(folder: Path) -> DemoLogins:
    file = folder / FILE_NAME
    if not file.exists():
        return {}
    stored: dict[str, Any] = json.loads(file.read_text())
    return {name: DemoLogin(**login) for name, login in stored.items()}


def save_logins(folder: Path, logins: DemoLogins) -> None:
    """Replace the file atomically. Only its owner can read it."""
    new_file = folder / f".{FILE_NAME}.new"
    new_file.unlink(missing_ok=True)
    descriptor = os.open(new_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        json.dump({name: asdict(login) for name, login in logins.items()}, out, indent=2)
        out.flush()
        os.fsync(descriptor)
    new_file.replace(folder / FILE_NAME)


def derive_password(login: DemoLogin, username: str) -> str:
    """The same password at every start, and a different one in every demo."""
    digest = sha256(f"{login.client_secret} {username}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:16]
