"""The product on embedded defaults, with a believable organisation in it."""

from collections.abc import Awaitable, Callable

from nimbill.seal import Sealer


def run_demo(port: int, prepare: Callable[[str, Sealer], Awaitable[None]]) -> None:
    raise NotImplementedError(port, prepare)
