"""The cost of access control: requests with a token and without, to the same server.

Both routes return a few hundred bytes of JSON from memory. The token's signature is cached after
the first request; the caller is loaded from the database at every request, so that revoked
permissions are gone with the next request (row T3 of the proof board). One worker is fully loaded:
the cost is the difference of the two times, 1 ÷ requests/s.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.example_groups import create_example_groups
from bench.load import LoadPlan
from bench.processes import BenchServer, LoadGenerator, start_load_generator
from bench.rounds import Contender, Measure, Suite
from bench.suites.serving import start_nimbill
from nimbill.database.embedded_postgres import embedded_postgres
from nimbill.foundation.encryption import load_or_create_key

WITH_GATE = "with access control"
WITHOUT_GATE = "without"

DESCRIPTIONS = {
    WITH_GATE: "GET /m/auth/rbac/permissions with a token: signature cached, caller loaded",
    WITHOUT_GATE: "GET /healthz: no token, no query",
}
CASE = "GET, answered from memory"
CONNECTIONS = 8
WARMUP_SECONDS = 0.3


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """One server with one worker, and one load generator."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        url = stack.enter_context(embedded_postgres(folder / "postgres")).url
        encryptor = load_or_create_key(folder / "key")
        example = create_example_groups(url, encryptor, folder / "postgres")
        load = stack.enter_context(start_load_generator())
        server, build_headers = stack.enter_context(start_nimbill(folder, url))
        routes = {
            WITH_GATE: ("/m/auth/rbac/permissions", build_headers(example.reader)),
            WITHOUT_GATE: ("/healthz", {}),
        }
        yield [
            Contender(name, DESCRIPTIONS[name], _measure(load, server, path, headers))
            for name, (path, headers) in routes.items()
        ]


def _measure(
    load: LoadGenerator, server: BenchServer, path: str, headers: Mapping[str, str]
) -> Measure:
    def measure(_case: str, seconds: float) -> float:
        plan = LoadPlan(
            port=server.port,
            method="GET",
            path=path,
            headers=[dict(headers)] * CONNECTIONS,
            seconds=seconds,
            warmup_seconds=WARMUP_SECONDS,
        )
        return load.run(plan).rate

    return measure


SUITE = Suite(
    name="gate",
    description="the cost of access control with a cached token signature",
    unit="requests/s",
    cases=(CASE,),
    baseline=WITH_GATE,
    roles={WITHOUT_GATE: "floor"},
    targets={},
    slice_seconds=2,
    contenders=contenders,
    minutes=0.5,
)
