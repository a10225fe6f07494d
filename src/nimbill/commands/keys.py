"""`nimbill keys`: look at the keys that sign tokens, rotate them, drop one in an emergency."""

import sys
from collections.abc import Awaitable, Callable
from json import dumps
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from cyclopts import App, Parameter
from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.key_rotation import NotYet, drop_key, list_keys, rotate_keys
from nimbill.application.installed import PRODUCTS, load_settings
from nimbill.application.open_database import with_database
from nimbill.database.tenant_scope import Row, engine_for
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.vocabulary import Product

T = TypeVar("T")
Switch = Annotated[bool, Parameter(negative="")]
if TYPE_CHECKING:
    ProductChoice = str
else:
    ProductChoice = Literal["all", *PRODUCTS]

NOT_DONE = 1
keys = App(name="keys", help="The keys that sign tokens.")
_out = Console(highlight=False)


def _ask(question: Callable[[AsyncConnection, Encryptor], Awaitable[T]]) -> T:
    async def asked(url: str, encryptor: Encryptor) -> T:
        engine = engine_for(url)
        try:
            async with engine.begin() as db:
                return await question(db, encryptor)
        finally:
            await engine.dispose()

    return with_database(load_settings(), asked)


@keys.command(name="list")
def list_(*, json: Switch = False) -> None:
    """Show every key: its product, its state and since when.

    Parameters
    ----------
    json
        Print one JSON object and nothing else.
    """
    _show(_ask(lambda db, _: list_keys(db)), as_json=json)


@keys.command
def rotate(*, product: ProductChoice = "all", now: Switch = False) -> None:
    """Let the next key sign from here on; tokens of the old one live until they expire.

    Parameters
    ----------
    product
        Whose keys.
    now
        Do not wait until the next key has been published for a day.
    """
    products = PRODUCTS if product == "all" else [Product(product)]

    try:
        _ask(
            lambda db, encryptor: rotate_keys(
                db, encryptor, at=clock.now(), products=products, at_once=now
            )
        )
    except NotYet as reason:
        Console(stderr=True).print(f"nimbill: {reason}; --now rotates all the same")
        sys.exit(NOT_DONE)
    _out.print("rotated")


@keys.command
def drop(kid: str, /) -> None:
    """Remove a key at once: every token it signed dies on its next request.

    Parameters
    ----------
    kid
        As `nimbill keys list` shows it.
    """
    if not _ask(lambda db, encryptor: drop_key(db, encryptor, kid, at=clock.now())):
        Console(stderr=True).print("nimbill: there is no such key")
        sys.exit(NOT_DONE)
    _out.print("dropped")


def _show(rows: list[Row], *, as_json: bool) -> None:
    shown = [
        {
            "kid": row.kid,
            "product": row.product,
            "state": row.state,
            "since": row.state_time.isoformat(),
        }
        for row in rows
    ]
    if as_json:
        sys.stdout.write(dumps({"keys": shown}) + "\n")
        return
    for key in shown:
        line = f"{key['product']:8} {key['state']:8} {key['since']}  {key['kid']}"
        _out.print(line, soft_wrap=True)  # a kid that is cut in two cannot be copied
