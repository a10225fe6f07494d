"""What the gate costs a request: the same server, a route behind it and one in the open.

Both answer a few hundred bytes of JSON from memory. Behind the gate the token's signature is
remembered from the first request on; whether its bearer still may is asked of the database each
time, so that what is taken away is gone with the next request (row T3 of the proof board). One
worker is kept busy: the cost of the gate is the difference of the two times, 1 ÷ requests/s.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.example_groups import make_example
from bench.load import Plan
from bench.processes import Load, Server, load_process
from bench.rounds import Contender, Suite
from bench.suites.serving import ours
from nimbill.database.embedded_postgres import embedded_postgres
from nimbill.foundation.encryption import load_or_create_key

GATE = "behind the gate"
OPEN = "in the open"

WHAT = {
    GATE: "GET /m/auth/rbac/permissions with a token: signature remembered, bearer asked for",
    OPEN: "GET /healthz: no token, no question",
}
CASE = "GET, answered from memory"
CONNECTIONS = 8
WARM_SECONDS = 0.3


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """One server of one worker, and one load process."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        url = stack.enter_context(embedded_postgres(folder / "postgres")).url
        example = make_example(url, load_or_create_key(folder / "key"), folder / "postgres")
        load = stack.enter_context(load_process())
        mine, headers = stack.enter_context(ours(folder, url))
        token = headers(example.reading)
        yield [
            Contender(
                GATE, WHAT[GATE], _measure(load, mine, "/m/auth/rbac/permissions", dict(token))
            ),
            Contender(OPEN, WHAT[OPEN], _measure(load, mine, "/healthz", {})),
        ]


def _measure(
    load: Load, to: Server, path: str, headers: Mapping[str, str]
) -> Callable[[str, float], float]:
    def measure(_case: str, seconds: float) -> float:
        plan = Plan(
            port=to.port,
            method="GET",
            path=path,
            headers=[dict(headers)] * CONNECTIONS,
            seconds=seconds,
            warm_seconds=WARM_SECONDS,
        )
        return load.put_on(plan).rate

    return measure


SUITE = Suite(
    name="gate",
    what="what the gate costs a request whose signature is remembered",
    unit="requests/s",
    cases=(CASE,),
    ours=GATE,
    aims={},
    slice_seconds=2,
    contenders=contenders,
)
