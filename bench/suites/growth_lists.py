"""Lists of 1,000 to 50,000 accounts: the records per second should not fall with the number."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.rounds import ComparisonLine, Contender, Curve, Suite, build_curve
from bench.suites.lists import BARE, DESCRIPTIONS, OURS, PAGE, ROW_BY_ROW, ExampleLists
from nimbill.database.embedded_postgres import embedded_postgres

ACCOUNTS_PER_GROUP = 5
SIZES = {f"{accounts:,} accounts": accounts for accounts in (1_000, 10_000, 50_000)}


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """A database for each size, and three methods in one process."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        examples: dict[str, ExampleLists] = {}
        for case, accounts in SIZES.items():
            own_folder = folder / str(accounts)
            own_folder.mkdir()
            address = stack.enter_context(embedded_postgres(own_folder / "postgres"))
            groups = accounts // ACCOUNTS_PER_GROUP
            examples[case] = stack.enter_context(
                ExampleLists(address, own_folder, groups=groups, accounts=accounts)
            )
        for example in examples.values():
            for name in (OURS, BARE, ROW_BY_ROW):
                _measure({"": example}, name, "", 0)  # warm-up
        yield [
            Contender(name, DESCRIPTIONS[name].format(page=PAGE), partial(_measure, examples, name))
            for name in (OURS, BARE, ROW_BY_ROW)
        ]


def _measure(examples: dict[str, ExampleLists], contender: str, case: str, seconds: float) -> float:
    example = examples[case]
    methods = {
        OURS: example.list_accounts,
        BARE: example.list_accounts_bare,
        ROW_BY_ROW: example.list_accounts_row_by_row,
    }
    return example.measure_rate(methods[contender], seconds)


def _draw_growth(lines: Sequence[ComparisonLine]) -> Sequence[Curve]:
    title = "A complete list by the number of accounts"
    labels = "accounts, records/s"
    return [build_curve(lines, SIZES, name="lists", title=title, labels=labels)]


SUITE = Suite(
    name="growth_lists",
    description="complete lists of accounts with their groups",
    unit="records/s",
    cases=tuple(SIZES),
    baseline=OURS,
    roles={BARE: "floor", ROW_BY_ROW: "instead"},
    targets={},
    slice_seconds=1,
    contenders=contenders,
    rounds=3,
    minutes=1,
    curves=_draw_growth,
)
