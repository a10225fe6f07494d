"""Each rule of the house catches a broken example and lets a sound one pass."""

import datetime
from pathlib import Path

import pytest

from tests.code_rules import rules

DEBT = "DEBT"  # apart from its sign, so that this file owes nothing
MARCH = datetime.date(2027, 3, 15)


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize("name", ["src/nimbill/a.py", "tests/test_a.py", "web/core/a.tsx"])
def test_a_file_of_401_lines_is_long(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, "x = 1\n" * 400)
    assert rules.long_files(tmp_path) == []

    write(tmp_path, name, "x = 1\n" * 401)
    assert len(rules.long_files(tmp_path)) == 1


def test_what_was_fetched_is_not_ours(tmp_path: Path) -> None:
    write(tmp_path, "web/node_modules/a/a.ts", "x = 1\n" * 401)

    assert rules.long_files(tmp_path) == []


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_of_61_lines_is_long(tmp_path: Path, kind: str) -> None:
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
        ("src/nimbill/room/__init__.py", ""),
    ],
)
def test_a_file_with_a_sentence_is_sound(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)

    assert rules.files_without_purpose(tmp_path) == []


@pytest.mark.parametrize(
    "name", ["utils.py", "helpers.py", "common.py", "manager.py", "service.py"]
)
def test_some_names_say_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"src/nimbill/{name}", "")

    assert len(rules.nameless_files(tmp_path)) == 1


@pytest.mark.parametrize(
    "name",
    [
        "money.py",
        "rules.py",
        "resellers/share_rules.py",
        "billing_groups/bodies.py",
        "invoices/document/page.py",
    ],
)
@pytest.mark.parametrize("text", ["x = 0.1", "x = float(1)", "x: float", "x = round(y)", "x = 1e3"])
def test_a_float_near_money_is_found(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, f"src/nimbill/{name}", text)

    assert rules.floats_near_money(tmp_path) != []


def test_a_float_may_be_refused_and_may_be_elsewhere(tmp_path: Path) -> None:
    write(
        tmp_path,
        "src/nimbill/foundation/money.py",
        "if isinstance(x, float):\n    raise TypeError\n",
    )
    write(tmp_path, "src/nimbill/foundation/clock.py", "seconds = 0.5\n")

    assert rules.floats_near_money(tmp_path) == []


@pytest.mark.parametrize(
    "question",
    [
        "async def find(db): ...",
        "async def find(db, name): ...",
        "async def find(db, scope): ...",
        "async def find(db: C, name: str, scope: TenantScope): ...",
        "async def find(db: C, scope: str): ...",
        "async def find(db: C, *, scope: TenantScope): ...",
    ],
)
def test_a_question_without_scope_is_found(tmp_path: Path, question: str) -> None:
    write(tmp_path, "src/nimbill/room/records.py", question)

    assert rules.questions_without_scope(tmp_path, {}) == [
        "room/records.py:find does not say whose records"
    ]


@pytest.mark.parametrize(
    "sound",
    [
        "async def find(db: C, scope: TenantScope, name: str): ...",
        "async def find(db: C, organisation_id: str): ...",
        "async def _inner(db: C): ...",
        "def new_id() -> str: ...",
    ],
)
def test_a_question_with_scope_is_sound(tmp_path: Path, sound: str) -> None:
    write(tmp_path, "src/nimbill/room/records.py", sound)

    assert rules.questions_without_scope(tmp_path, {}) == []


def test_an_exception_needs_a_reason_and_a_use(tmp_path: Path) -> None:
    write(tmp_path, "src/nimbill/room/records.py", "async def find(db): ...")
    question = "room/records.py:find"

    assert rules.questions_without_scope(tmp_path, {question: "before anyone is known"}) == []
    assert len(rules.questions_without_scope(tmp_path, {question: ""})) == 1
    assert rules.questions_without_scope(tmp_path, {question: "why", "gone.py:f": "why"}) == [
        "gone.py:f needs no exception any more"
    ]


@pytest.mark.parametrize(
    ("month", "past_due"), [("(2027-02):", 1), ("(2027-03):", 0), ("(2028-01):", 0), ("", 1)]
)
def test_a_debt_stands_until_its_month_is_over(tmp_path: Path, month: str, past_due: int) -> None:
    write(tmp_path, "src/nimbill/a.py", f"x = 1  # {DEBT}{month} pay it back\n")

    assert len(rules.debts_past_due(tmp_path, MARCH)) == past_due


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
def test_a_lock_that_names_a_place_is_found(tmp_path: Path, line: str) -> None:
    write(tmp_path, "requirements/run.txt", line)

    assert len(rules.locks_that_name_a_host(tmp_path)) == 1


def test_a_package_lock_that_names_a_place_is_found(tmp_path: Path) -> None:
    write(tmp_path, "web/package-lock.json", '{"packages": {"a": {"resolved": "elsewhere"}}}')

    assert len(rules.locks_that_name_a_host(tmp_path)) == 1


def test_a_requirement_without_a_hash_is_found(tmp_path: Path) -> None:
    write(tmp_path, "requirements/run.txt", "a==1 \\\n    --hash=sha256:00\nhttpx==2\nb>=1 \\\n")

    assert rules.unhashed_requirements(tmp_path) == [
        "requirements/run.txt does not pin httpx==2 by hash",
        "requirements/run.txt does not pin b>=1 by hash",
    ]
