"""The rules of the house that a machine can keep, each a function over a root folder.

Every function returns what breaks the rule, one readable line each; an empty list means it is kept.
"""

import ast
import datetime
import re
from collections.abc import Iterator
from pathlib import Path

LINES_PER_FILE_MAX = 400
LINES_PER_FUNCTION_MAX = 60
CODE_FOLDERS = ("src", "tests", "bench", "web", ".ci")
NOT_OURS = {"node_modules", "static", "__pycache__", "dist"}

NAMELESS = {"utils", "util", "helpers", "helper", "common", "manager", "service", "misc"}

# Files and folders of src/nimbill in which no amount may ever become a float.
NEAR_MONEY_FILES = ("money.py", "rules.py", "*_rules.py")
NEAR_MONEY_ROOMS = ("billing_groups", "invoices", "recalculation", "reserved_instances")

# Questions that may be asked without naming whose records: "room/records.py:function" and why.
WITHOUT_SCOPE = {
    "audit/records.py:append": "the database itself writes the organisation of the transaction",
    "audit/records.py:append_all": "as append does",
    "login/records.py:find_client": "answers whose client an exact id is, before that is known",
    "login/records.py:find_agent": "the same of an exact stack",
    "work/records.py:organisations_with_work": "answers ids alone, through a function of the owner",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def ours(root: Path, *suffixes: str) -> Iterator[Path]:
    """Our own source files, not what was built or fetched."""
    for folder in CODE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and path.suffix in suffixes and not NOT_OURS & set(inside.parts):
                yield path


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def long_files(root: Path) -> list[str]:
    counted = (
        (path, len(path.read_text().splitlines())) for path in ours(root, ".py", ".ts", ".tsx")
    )
    return [
        f"{path.relative_to(root)} has {lines} lines, more than {LINES_PER_FILE_MAX}"
        for path, lines in counted
        if lines > LINES_PER_FILE_MAX
    ]


def long_functions(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}:{function.lineno} {function.name} has more than "
        f"{LINES_PER_FUNCTION_MAX} lines"
        for path in ours(root, ".py")
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > LINES_PER_FUNCTION_MAX
    ]


def files_without_purpose(root: Path) -> list[str]:
    """The first line is a docstring with a sentence; a test file may give a method and a path."""
    broken = []
    for path in ours(root, ".py"):
        text = path.read_text()
        if not text.strip() and path.name == "__init__.py":
            continue
        purpose = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        if not text.startswith('"""') or len(purpose.split()) < 2:
            broken.append(f"{path.relative_to(root)} does not begin with a sentence on its purpose")
    return broken


def nameless_files(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)} says nothing by its name"
        for path in ours(root, ".py", ".ts", ".tsx")
        if path.stem.lower() in NAMELESS or path.parent.name.lower() in NAMELESS
    ]


def near_money(root: Path) -> Iterator[Path]:
    package = root / "src" / "nimbill"
    for path in sorted(package.rglob("*.py")):
        rooms = path.relative_to(package).parts[:-1]
        if any(path.match(name) for name in NEAR_MONEY_FILES) or set(NEAR_MONEY_ROOMS) & set(rooms):
            yield path


def makes_a_float(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "round"
    return isinstance(node, ast.Name) and node.id == "float"


def floats_near_money(root: Path) -> list[str]:
    """No float by name, by literal or by round(); refusing one by isinstance is not making one."""
    broken = []
    for path in near_money(root):
        tree = ast.parse(path.read_text())
        refusing = {
            id(name)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "isinstance"
            for name in ast.walk(call)
        }
        broken += [
            f"{path.relative_to(root)}:{node.lineno} makes a float or rounds one"
            for node in ast.walk(tree)
            if isinstance(node, ast.expr) and makes_a_float(node) and id(node) not in refusing
        ]
    return broken


def questions_without_scope(root: Path, excepted: dict[str, str] | None = None) -> list[str]:
    """A question to the records takes the connection, then whose records it is about."""
    excepted = WITHOUT_SCOPE if excepted is None else excepted
    package = root / "src" / "nimbill"
    broken, met = [], set()
    for path in sorted(package.rglob("*records.py")):
        for function in functions(path):
            question = f"{path.relative_to(package)}:{function.name}"
            if asks_without_scope(function):
                met.add(question)
                if not excepted.get(question):
                    broken.append(f"{question} does not say whose records")
    return broken + [f"{name} needs no exception any more" for name in excepted.keys() - met]


def asks_without_scope(function: Function) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args]
    is_question = isinstance(function, ast.AsyncFunctionDef) and not function.name.startswith("_")
    if not is_question or not arguments or arguments[0].arg != "db":
        return False
    whose = arguments[1] if len(arguments) > 1 else None
    if whose is None or whose.annotation is None:
        return True
    return (whose.arg, ast.unparse(whose.annotation)) not in {
        ("scope", "TenantScope"),
        ("organisation_id", "str"),
    }


def debts_past_due(root: Path, today: datetime.date) -> list[str]:
    """A debt names the last month in which it may stand; one without a month is past due."""
    due = re.compile(r"(?:#|//|/\*)\s*DEBT\b(?:\((\d{4}-(?:0[1-9]|1[0-2]))\):)?")
    this_month = today.strftime("%Y-%m")
    return [
        f"{path.relative_to(root)}:{number} {line.strip()}"
        for path in ours(root, ".py", ".ts", ".tsx", ".js", ".css", ".html")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (debt := due.search(line)) and (debt[1] is None or debt[1] < this_month)
    ]


def locks_that_name_a_host(root: Path) -> list[str]:
    """Locks pin by hash and name no place, so that they hold behind any mirror."""
    broken = []
    for path in sorted((root / "requirements").glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if re.search(r"https?:|--(extra-)?index-url|--find-links|file:|\s@\s", line):
                broken.append(f"{path.relative_to(root)}:{number} {line.strip()}")
    for path in sorted((root / "web").glob("package-lock.json")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if '"resolved"' in line:
                broken.append(f"{path.relative_to(root)}:{number} {line.strip()}")
    return broken


def unhashed_requirements(root: Path) -> list[str]:
    """Every pinned line continues into at least one hash."""
    broken = []
    for path in sorted((root / "requirements").glob("*.txt")):
        lines = path.read_text().splitlines()
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            if line[:1].isalnum() and not ("==" in line and "--hash=sha256:" in following):
                broken.append(f"{path.relative_to(root)} does not pin {line.split()[0]} by hash")
    return broken
