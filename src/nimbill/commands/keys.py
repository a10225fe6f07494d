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
from nimbill.commands.console import JsonSwitch, Switch, exit_with_error, print_json, print_text
from nimbill.commands.tables import OutputColumn, print_rows
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
def list_(*, json: JsonSwitch = False) -> None:
    """List the keys with product, state and the time of the last state change."""
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
    columns = [OutputColumn(name) for name in ("product", "state", "since", "kid")]
    print_rows(
        columns,
        [[row.product, row.state, clock.format_timestamp(row.state_time), row.kid] for row in rows],
    )


@keys.command
def rotate(
    *, product: ProductChoice = "all", now: Switch = False, json: JsonSwitch = False
) -> None:
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
    _print_success("The keys were rotated.", as_json=json)


@keys.command
def drop(kid: str, /, *, json: JsonSwitch = False) -> None:
    """Remove a key at once. Every token that it signed becomes invalid.

    Parameters
    ----------
    kid
        Id of the key, as shown by `nimbill keys list`.
    """
    if not _run_in_transaction(lambda db, encryptor: drop_key(db, encryptor, kid, at=clock.now())):
        exit_with_error(NOT_DONE, "No key has this id.")
    _print_success("The key was dropped.", as_json=json)


def _print_success(text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(dumps({"status": "success"}).encode())
    else:
        print_text(text)


def _run_in_transaction(
    operation: Callable[[AsyncConnection, Encryptor], Awaitable[T]], *, migrates: bool = True
) -> T:
    async def run(engine: AsyncEngine, encryptor: Encryptor) -> T:
        async with engine.begin() as db:
            return await operation(db, encryptor)

    return run_with_engine(load_command_settings(), run, migrates=migrates)
