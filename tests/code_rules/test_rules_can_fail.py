"""Each rule of the code base finds a violation and accepts correct code."""

import datetime
from pathlib import Path

import pytest

from tests.code_rules import rules

DEBT = "DEBT"  # without a comment sign, so that this file has no debt
MARCH = datetime.date(2027, 3, 15)


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize("name", ["src/nimbill/a.py", "tests/test_a.py", "web/core/a.tsx"])
def test_a_file_of_601_lines_is_too_long(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, "x = 1\n" * 600)
    assert rules.long_files(tmp_path) == []

    write(tmp_path, name, "x = 1\n" * 601)
    assert len(rules.long_files(tmp_path)) == 1


def test_installed_files_are_not_checked(tmp_path: Path) -> None:
    write(tmp_path, "web/node_modules/a/a.ts", "x = 1\n" * 601)

    assert rules.long_files(tmp_path) == []


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_of_61_lines_is_too_long(tmp_path: Path, kind: str) -> None:
    write(tmp_path, "src/nimbill/a.py", f"{kind} f():\n" + "    x = 1\n" * 59)
    assert rules.long_functions(tmp_path) == []

    write(tmp_path, "src/nimbill/a.py", f"{kind} f():\n" + "    x = 1\n" * 60)
    assert len(rules.long_functions(tmp_path)) == 1


@pytest.mark.parametrize("text", ["x = 1\n", '"""Word."""\n', '# note\n"""A late sentence."""\n'])
def test_a_file_must_begin_with_a_sentence(tmp_path: Path, text: str) -> None:
    write(tmp_path, "src/nimbill/a.py", text)

    assert len(rules.files_without_purpose(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/nimbill/a.py", '"""What a is for."""\n'),
        ("tests/test_a.py", '"""POST /m/core/a"""\n'),
        ("src/nimbill/package/__init__.py", ""),
    ],
)
def test_a_file_with_a_sentence_is_accepted(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)

    assert rules.files_without_purpose(tmp_path) == []


@pytest.mark.parametrize("folder", ["src/nimbill", "client/src/nimbill_client"])
def test_a_class_name_that_is_defined_twice_is_found(tmp_path: Path, folder: str) -> None:
    write(tmp_path, "src/nimbill/a.py", "class Invoice: ...\n")
    write(tmp_path, "client/src/nimbill_client/a.py", "class Invoice: ...\n")
    assert rules.repeated_class_names(tmp_path) == []  # the client uses the service's names

    write(tmp_path, f"{folder}/b.py", "class Invoice: ...\n")
    assert len(rules.repeated_class_names(tmp_path)) == 1


def test_a_float_in_the_client_is_found(tmp_path: Path) -> None:
    write(tmp_path, "client/src/nimbill_client/clock.py", "seconds: float = 0.5\n")
    assert rules.floats_near_money(tmp_path) == []

    write(tmp_path, "client/src/nimbill_client/invoices.py", "total: float\n")
    assert len(rules.floats_near_money(tmp_path)) == 1


@pytest.mark.parametrize(
    "name",
    [
        "money.py",
        "rules.py",
        "resellers/share_rules.py",
        "billing_groups/bodies.py",
        "invoicing/documents/page.py",
    ],
)
@pytest.mark.parametrize("text", ["x = 0.1", "x = float(1)", "x: float", "x = round(y)", "x = 1e3"])
def test_a_float_near_money_is_found(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, f"src/nimbill/{name}", text)

    assert rules.floats_near_money(tmp_path) != []


def test_a_type_check_and_a_float_elsewhere_are_accepted(tmp_path: Path) -> None:
    write(
        tmp_path,
        "src/nimbill/foundation/money.py",
        "if isinstance(x, float):\n    raise TypeError\n",
    )
    write(tmp_path, "src/nimbill/foundation/clock.py", "seconds = 0.5\n")

    assert rules.floats_near_money(tmp_path) == []


@pytest.mark.parametrize(
    "query",
    [
        "async def find(db): ...",
        "async def find(db, name): ...",
        "async def find(db, scope): ...",
        "async def find(db: C, name: str, scope: TenantScope): ...",
        "async def find(db: C, scope: str): ...",
        "async def find(db: C, *, scope: TenantScope): ...",
    ],
)
def test_a_query_without_scope_is_found(tmp_path: Path, query: str) -> None:
    write(tmp_path, "src/nimbill/package/records.py", query)

    assert rules.queries_without_scope(tmp_path, {}) == [
        "package/records.py:find does not take a scope"
    ]


@pytest.mark.parametrize(
    "code",
    [
        "async def find(db: C, scope: TenantScope, name: str): ...",
        "async def find(db: C, organisation_id: str): ...",
        "async def _inner(db: C): ...",
        "def new_id() -> str: ...",
    ],
)
def test_a_query_with_scope_is_accepted(tmp_path: Path, code: str) -> None:
    write(tmp_path, "src/nimbill/package/records.py", code)

    assert rules.queries_without_scope(tmp_path, {}) == []


def test_an_exception_needs_a_reason_and_a_use(tmp_path: Path) -> None:
    write(tmp_path, "src/nimbill/package/records.py", "async def find(db): ...")
    query = "package/records.py:find"

    assert rules.queries_without_scope(tmp_path, {query: "the caller is not known yet"}) == []
    assert len(rules.queries_without_scope(tmp_path, {query: ""})) == 1
    assert rules.queries_without_scope(tmp_path, {query: "why", "gone.py:f": "why"}) == [
        "gone.py:f no longer needs an exception"
    ]


@pytest.mark.parametrize(
    ("month", "past_due"), [("(2027-02):", 1), ("(2027-03):", 0), ("(2028-01):", 0), ("", 1)]
)
def test_a_debt_is_past_due_after_its_month(tmp_path: Path, month: str, past_due: int) -> None:
    write(tmp_path, "src/nimbill/a.py", f"x = 1  # {DEBT}{month} pay it back\n")

    assert len(rules.debts_past_due(tmp_path, MARCH)) == past_due


@pytest.mark.parametrize(
    ("place", "line", "found"),
    [
        ("tests/jobs/test_a.py", "assert time.{} - start < 5", 1),
        ("tests/jobs/test_a.py", "assert time.{} < deadline", 0),
        ("tests/proof/rows/test_a.py", "seconds = time.{} - start", 0),
    ],
)
def test_a_measured_duration_is_found(tmp_path: Path, place: str, line: str, found: int) -> None:
    write(tmp_path, place, line.format("perf_counter()") + "\n")

    assert len(rules.measured_durations(tmp_path)) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('run_{}("serve", "--port", "{}")', 1),
        ('run_{}("serve", env=env)', 1),
        ('socket.create_{}(("127.0.0.1", {}))', 1),
        ('run_{}("serve", "--port", str(free_port()))', 0),
        ('socket.create_{}(("127.0.0.1", 0))', 0),
    ],
)
def test_a_fixed_port_is_found(tmp_path: Path, line: str, found: int) -> None:
    function = "server" if "socket" in line else "command"
    write(tmp_path, "tests/test_a.py", line.format(function, 8080) + "\n")

    assert len(rules.fixed_ports(tmp_path)) == found


@pytest.mark.parametrize(
    ("place", "line", "found"),
    [
        ("src/nimbill/a.py", "late = time.time() > limit", 1),
        ("src/nimbill/a.py", "today = datetime.now(UTC)", 1),
        ("src/nimbill/a.py", "deadline = time.monotonic() + 5", 0),
        ("src/nimbill/foundation/clock.py", "return datetime.now(UTC)", 0),
        ("tests/test_a.py", "began = time.time()", 0),
    ],
)
def test_a_read_of_the_time_of_day_is_found(
    tmp_path: Path, place: str, line: str, found: int
) -> None:
    write(tmp_path, place, f"{line}\n")

    assert len(rules.wall_clock_reads(tmp_path)) == found


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://example.org/simple",
        "--extra-index-url x",
        "--find-links x",
        "a @ file:///somewhere/a.whl",
        "# from http://example.org",
    ],
)
def test_a_lock_file_with_a_host_is_found(tmp_path: Path, line: str) -> None:
    write(tmp_path, "requirements/run.txt", line)

    assert len(rules.lock_files_with_hosts(tmp_path)) == 1


def test_a_package_lock_with_a_host_is_found(tmp_path: Path) -> None:
    write(tmp_path, "web/package-lock.json", '{"packages": {"a": {"resolved": "elsewhere"}}}')

    assert len(rules.lock_files_with_hosts(tmp_path)) == 1


def test_a_requirement_without_a_hash_is_found(tmp_path: Path) -> None:
    write(tmp_path, "requirements/run.txt", "a==1 \\\n    --hash=sha256:00\nhttpx==2\nb>=1 \\\n")

    assert rules.requirements_without_hash(tmp_path) == [
        "requirements/run.txt does not pin httpx==2 by hash",
        "requirements/run.txt does not pin b>=1 by hash",
    ]


def test_a_repeated_class_name_is_found(tmp_path: Path) -> None:
    write(tmp_path, "src/nimbill/a.py", "class Invoice: ...\nclass Line: ...\n")
    write(tmp_path, "tests/test_a.py", "class Invoice: ...\n")

    assert rules.repeated_class_names(tmp_path) == [
        "class Invoice is defined in src/nimbill/a.py:1, tests/test_a.py:1"
    ]
