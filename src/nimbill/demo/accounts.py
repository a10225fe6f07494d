"""The resellers' organisations: made once, and how to log in remembered beside the data."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nimbill.database.tenant_scope import engine_for
from nimbill.demo.story import RESELLERS, Reseller
from nimbill.foundation.encryption import Encryptor
from nimbill.identity.organisations.operations import create_organisation

FILE_NAME = "demo.json"


@dataclass(slots=True, repr=False)
class DemoLogin:
    """How to log in as a reseller, and which chapters of its story have been told."""

    organisation_id: str
    username: str
    password: str
    client_id: str
    client_secret: str
    told: list[str]


Accounts = dict[str, DemoLogin]  # by the reseller's English name


async def make_accounts(url: str, sealer: Encryptor, folder: Path) -> Accounts:
    """An organisation for each reseller that has none yet, as `nimbill init` makes them."""
    accounts = read_accounts(folder)
    for reseller in RESELLERS:
        if reseller.english_name not in accounts:
            accounts[reseller.english_name] = await _new_account(url, sealer, reseller)
            remember(folder, accounts)
    return accounts


async def _new_account(url: str, sealer: Encryptor, reseller: Reseller) -> DemoLogin:
    password = secrets.token_urlsafe(12)
    engine = engine_for(url)
    try:
        made = await create_organisation(
            engine,
            sealer,
            name=reseller.english_name,
            username=reseller.username,
            password=password,
        )
    finally:
        await engine.dispose()
    return DemoLogin(
        organisation_id=made.organisation_id,
        username=made.username,
        password=password,
        client_id=made.client_id,
        client_secret=made.client_secret,
        told=[],
    )


def read_accounts(folder: Path) -> Accounts:
    file = folder / FILE_NAME
    if not file.exists():
        return {}
    kept: dict[str, Any] = json.loads(file.read_text())
    return {name: DemoLogin(**account) for name, account in kept.items()}


def remember(folder: Path, accounts: Accounts) -> None:
    """For the owner's eyes alone; the old file or the new one, never half of one."""
    new = folder / f".{FILE_NAME}.new"
    new.unlink(missing_ok=True)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        json.dump({name: asdict(account) for name, account in accounts.items()}, out, indent=2)
        out.flush()
        os.fsync(handle)
    new.replace(folder / FILE_NAME)
