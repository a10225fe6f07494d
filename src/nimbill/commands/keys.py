"""`nimbill keys`: list, rotate and drop the keys that sign tokens."""

from collections.abc import Awaitable, Callable
from json import dumps
from typing import TYPE_CHECKING, Literal, TypeVar

from cyclopts import App
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.key_rotation import NextKeyTooNew, drop_key, list_keys, rotate_keys
from nimbill.application.installed import PRODUCTS
from nimbill.application.open_database import run_with_engine
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import Switch, exit_with_error, print_json, print_text
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.product import Product

T = TypeVar("T")
if TYPE_CHECKING:
    ProductChoice = str
else:
    ProductChoice = Literal["all", *PRODUCTS]

NOT_DONE = 1  # exit code
keys = App(name="keys", help="The keys that sign tokens.")


@keys.command(name="list")
def list_(*, json: Switch = False) -> None:
    """List the keys with product, state and the time of the last state change.

    Parameters
    ----------
    json
        Print one JSON object and nothing else.
    """
    rows = _run_in_transaction(lambda db, _: list_keys(db), migrates=False)
    listed = [
        {
            "kid": row.kid,
            "product": row.product,
            "state": row.state,
            "since": row.state_time.isoformat(),
        }
        for row in rows
    ]
    if json:
        print_json(dumps({"keys": listed}).encode())
        return
    for key in listed:
        print_text(f"{key['product']:8} {key['state']:8} {key['since']}  {key['kid']}")


@keys.command
def rotate(*, product: ProductChoice = "all", now: Switch = False) -> None:
    """Sign new tokens with the next key. Tokens of the old key stay valid until they expire.

    Parameters
    ----------
    product
        The product whose keys are rotated.
    now
        Rotate even if the next key was published less than a day ago.
    """
    products = PRODUCTS if product == "all" else [Product(product)]
    try:
        _run_in_transaction(
            lambda db, encryptor: rotate_keys(
                db, encryptor, at=clock.now(), products=products, at_once=now
            )
        )
    except NextKeyTooNew as reason:
        exit_with_error(NOT_DONE, f"{reason} Use --now to rotate anyway.")
    print_text("The keys were rotated.")


@keys.command
def drop(kid: str, /) -> None:
    """Remove a key at once. Every token that it signed becomes invalid.

    Parameters
    ----------
    kid
        Id of the key, as shown by `nimbill keys list`.
    """
    if not _run_in_transaction(lambda db, encryptor: drop_key(db, encryptor, kid, at=clock.now())):
        exit_with_error(NOT_DONE, "No key has this id.")
    print_text("The key was dropped.")


def _run_in_transaction(
    operation: Callable[[AsyncConnection, Encryptor], Awaitable[T]], *, migrates: bool = True
) -> T:
    async def run(engine: AsyncEngine, encryptor: Encryptor) -> T:
        async with engine.begin() as db:
            return await operation(db, encryptor)

    return run_with_engine(load_command_settings(), run, migrates=migrates)
