"""Tells the story to the service over its own HTTP API, as any client would."""

from pathlib import Path

from nimbill.demo.accounts import Account
from nimbill.demo.calling import Caller
from nimbill.demo.chapters import CHAPTERS
from nimbill.demo.story import Reseller


def tell(address: str, reseller: Reseller, account: Account, folder: Path) -> bool:
    """Every chapter not told yet; whether there was one."""
    untold = [name for name in CHAPTERS if name not in account.told]
    caller = Caller(address, account, folder)
    for name in untold:
        CHAPTERS[name](caller, reseller)
        account.told.append(name)
    return bool(untold)
