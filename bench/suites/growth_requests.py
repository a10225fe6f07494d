"""Requests by the number of organisations and of concurrent clients, with the slowest hundredth."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.example_groups import create_example_groups
from bench.load import LoadPlan
from bench.processes import BenchServer, LoadGenerator, start_load_generator
from bench.rounds import ComparisonLine, Contender, Curve, Suite, build_curve
from bench.suites.serving import (
    BARE,
    DESCRIPTIONS,
    FASTAPI,
    OURS,
    BuildHeaders,
    start_bare,
    start_fastapi,
    start_nimbill,
)
from nimbill.database.embedded_postgres import embedded_postgres
from nimbill.foundation.encryption import load_or_create_key
from nimbill.identity.organisations.operations import NewOrganisation

ORGANISATIONS = {
    f"{number} organisation{'s' * (number > 1)}, 64 clients": number for number in (1, 8, 64)
}
CLIENTS = {f"{number} client{'s' * (number > 1)}": number for number in (1, 8, 64, 256)}
CLIENTS_OF_ORGANISATIONS = 64
ORGANISATIONS_OF_CLIENTS = 8
WARMUP_SECONDS = 0.5
PATH = "/m/core/billinggroup"

Latencies = defaultdict[tuple[str, str], list[float]]  # milliseconds by contender and case


@contextmanager
def contenders(latencies: Latencies) -> Iterator[Sequence[Contender]]:
    """Three servers with one worker each on one PostgreSQL, and one load generator."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        url = stack.enter_context(embedded_postgres(folder / "postgres")).url
        example = create_example_groups(
            url,
            load_or_create_key(folder / "key"),
            folder / "postgres",
            readers=max(ORGANISATIONS.values()),
        )
        load = stack.enter_context(start_load_generator())
        servers = {
            name: stack.enter_context(start(folder, url))
            for name, start in ((OURS, start_nimbill), (BARE, start_bare), (FASTAPI, start_fastapi))
        }
        yield [
            Contender(
                name,
                DESCRIPTIONS[name],
                partial(_measure, load, example.readers, latencies, name, *servers[name]),
            )
            for name in servers
        ]


def _measure(
    load: LoadGenerator,
    organisations: Sequence[NewOrganisation],
    latencies: Latencies,
    name: str,
    server: BenchServer,
    build_headers: BuildHeaders,
    case: str,
    seconds: float,
) -> float:
    number = ORGANISATIONS.get(case, ORGANISATIONS_OF_CLIENTS)
    clients = CLIENTS.get(case, CLIENTS_OF_ORGANISATIONS)
    callers = islice(cycle(organisations[:number]), clients)
    result = load.run(
        LoadPlan(
            port=server.port,
            method="GET",
            path=PATH,
            headers=[dict(build_headers(organisation)) for organisation in callers],
            seconds=seconds,
            warmup_seconds=WARMUP_SECONDS,
        )
    )
    latencies[name, case].append(result.milliseconds_99)
    return result.rate


def _format_latencies(latencies: Latencies) -> Sequence[str]:
    names = list(dict.fromkeys(name for name, _ in latencies))
    rows = [f"| 99 of 100 requests take at most, ms | {' | '.join(names)} |", "|---" * 4 + "|"]
    for case in [*ORGANISATIONS, *CLIENTS]:
        figures = [_format_median(latencies[name, case]) for name in names]
        rows.append(f"| {case} | {' | '.join(figures)} |")
    return rows


def _format_median(milliseconds: Sequence[float]) -> str:
    return f"{median(milliseconds):,.0f}" if milliseconds else "–"


def _draw_growth(latencies: Latencies, lines: Sequence[ComparisonLine]) -> Sequence[Curve]:
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (name, case), milliseconds in latencies.items():
        if case in CLIENTS and milliseconds:
            points[name].append((CLIENTS[case], round(median(milliseconds), 2)))
    return [
        build_curve(
            lines,
            ORGANISATIONS,
            name="organisations",
            title="GET, a list of 20, 64 clients, by the number of organisations",
            labels="organisations, requests/s",
        ),
        build_curve(
            lines,
            CLIENTS,
            name="clients",
            title="GET, a list of 20, by the number of concurrent clients",
            labels="clients, requests/s",
        ),
        Curve(
            name="latencies",
            title="GET, a list of 20: 99 of 100 requests take at most",
            x_label="clients",
            y_label="milliseconds",
            points=dict(points),
        ),
    ]


def build_suite() -> Suite:
    latencies: Latencies = defaultdict(list)
    return Suite(
        name="growth_requests",
        description="GET, a list of 20 billing groups, one worker each",
        unit="requests/s",
        cases=(*ORGANISATIONS, *CLIENTS),
        baseline=OURS,
        roles={BARE: "floor", FASTAPI: "instead"},
        targets={},
        slice_seconds=2,
        contenders=partial(contenders, latencies),
        rounds=3,
        minutes=2,
        extra_rows=partial(_format_latencies, latencies),
        curves=partial(_draw_growth, latencies),
    )


SUITE = build_suite()
