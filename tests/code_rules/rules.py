"""Rules of the code base that a machine can check, each a function over a project's root folder.

Every function returns one readable line per violation.
"""

import ast
import datetime
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

LINES_PER_FILE_MAX = 600
LINES_PER_FUNCTION_MAX = 60
CODE_FOLDERS = ("src", "client", "docs", "tests", "bench", "web", ".ci")
CLIENT = "client"  # a package of its own, which names what it sends as the service does
GENERATED_FOLDERS = {"node_modules", "static", "__pycache__", "dist"}
GENERATED_FILES = {"client/src/nimbill_client/bodies.py", "web/src/api/schema.ts"}

# files and packages of src/nimbill in which no amount may become a float
MONEY_FILES = ("money.py", "rules.py", "*_rules.py")
MONEY_PACKAGES = (
    *("adjustments", "billing_groups", "closing", "corrections", "credit_notes", "invoicing"),
    *("issuing", "receivables"),
)
# files of the client that handle time and no amounts
CLIENT_TIME_FILES = ("clock.py", "retries.py")

# the only module that may ask for the time of day
CLOCK_MODULE = "src/nimbill/foundation/clock.py"

# files whose public functions query the database
QUERY_FILES = (
    "records.py",
    "*_records.py",
    "invoice_inputs.py",
    "latest_invoices.py",
    "month_settings.py",
    "stored_invoices.py",
    "sum_queries.py",
)
# queries without a tenant scope: "package/records.py:function" and the reason
QUERIES_WITHOUT_SCOPE = {
    "audit/records.py:append_entry": "the database writes the organisation",
    "audit/records.py:append_entries": "like append_entry",
    "identity/login/records.py:find_client": "finds the organisation of an exact client id",
    "legacy/login/records.py:find_agent": "finds the organisation of a stack id",  # version 3
    "jobs/records.py:list_organisations_with_due_jobs": "returns ids only",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def source_files(root: Path, *suffixes: str) -> Iterator[Path]:
    """Our own source files, without generated and installed ones."""
    for top in CODE_FOLDERS:
        for folder, names, files in os.walk(root / top):
            names[:] = sorted(set(names) - GENERATED_FOLDERS)  # others are not looked into
            for path in (Path(folder, name) for name in sorted(files)):
                if path.suffix in suffixes and str(path.relative_to(root)) not in GENERATED_FILES:
                    yield path


@cache
def parse(source: str) -> ast.Module:
    """Parse a file once for all rules."""
    return ast.parse(source)


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def long_files(root: Path) -> list[str]:
    line_counts = (
        (path, len(path.read_text().splitlines()))
        for path in source_files(root, ".py", ".ts", ".tsx")
    )
    return [
        f"{path.relative_to(root)} has {lines} lines, more than {LINES_PER_FILE_MAX}"
        for path, lines in line_counts
        if lines > LINES_PER_FILE_MAX
    ]


def long_functions(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}:{function.lineno} {function.name} has more than "
        f"{LINES_PER_FUNCTION_MAX} lines"
        for path in source_files(root, ".py")
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > LINES_PER_FUNCTION_MAX
    ]


def files_without_purpose(root: Path) -> list[str]:
    """A file begins with a docstring of a sentence; a test file may give a method and a path."""
    violations = []
    for path in source_files(root, ".py"):
        text = path.read_text()
        if not text.strip() and path.name == "__init__.py":
            continue
        purpose = (ast.get_docstring(parse(text)) or "").partition("\n")[0]
        if not text.startswith('"""') or len(purpose.split()) < 2:
            violations.append(f"{path.relative_to(root)} does not begin with its purpose")
    return violations


def repeated_class_names(root: Path) -> list[str]:
    """A class name is defined once in the project, and once in the client."""
    places = defaultdict(list)
    for path in source_files(root, ".py"):
        relative = path.relative_to(root)
        for node in ast.walk(parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                in_client = relative.parts[0] == CLIENT
                places[node.name, in_client].append(f"{relative}:{node.lineno}")
    return [
        f"class {name} is defined in {', '.join(where)}"
        for (name, _), where in sorted(places.items())
        if len(where) > 1
    ]


def files_near_money(root: Path) -> Iterator[Path]:
    package = root / "src" / "nimbill"
    for path in sorted(package.rglob("*.py")):
        packages = set(path.relative_to(package).parts[:-1])
        if any(path.match(name) for name in MONEY_FILES) or set(MONEY_PACKAGES) & packages:
            yield path
    for path in sorted((root / CLIENT).rglob("*.py")):
        if path.name not in CLIENT_TIME_FILES:
            yield path


def makes_a_float(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "round"
    return isinstance(node, ast.Name) and node.id == "float"


def floats_near_money(root: Path) -> list[str]:
    """No float by name, by literal or by round(); `isinstance(x, float)` is allowed."""
    violations = []
    for path in files_near_money(root):
        tree = parse(path.read_text())
        type_checks = {
            id(name)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "isinstance"
            for name in ast.walk(call)
        }
        violations += [
            f"{path.relative_to(root)}:{node.lineno} uses a float or round()"
            for node in ast.walk(tree)
            if isinstance(node, ast.expr) and makes_a_float(node) and id(node) not in type_checks
        ]
    return violations


def queries_without_scope(root: Path, allowed: dict[str, str] | None = None) -> list[str]:
    """A query takes the connection and then the scope whose records it may return."""
    allowed = QUERIES_WITHOUT_SCOPE if allowed is None else allowed
    package = root / "src" / "nimbill"
    violations, used = [], set()
    files = {path for pattern in QUERY_FILES for path in package.rglob(pattern)}
    for path in sorted(files):
        for function in functions(path):
            query = f"{path.relative_to(package)}:{function.name}"
            if lacks_scope(function):
                used.add(query)
                if not allowed.get(query):
                    violations.append(f"{query} does not take a scope")
    return violations + [f"{name} no longer needs an exception" for name in allowed.keys() - used]


def lacks_scope(function: Function) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args]
    is_query = isinstance(function, ast.AsyncFunctionDef) and not function.name.startswith("_")
    if not is_query or not arguments or arguments[0].arg != "db":
        return False
    scope = arguments[1] if len(arguments) > 1 else None
    if scope is None or scope.annotation is None:
        return True
    return (scope.arg, ast.unparse(scope.annotation)) not in {
        ("scope", "TenantScope"),
        ("organisation_id", "str"),
    }


def debts_past_due(root: Path, today: datetime.date) -> list[str]:
    """A debt names the last month in which it is allowed; one without a month is past due."""
    due = re.compile(r"(?:#|//|/\*)\s*DEBT\b(?:\((\d{4}-(?:0[1-9]|1[0-2]))\):)?")
    this_month = today.strftime("%Y-%m")
    return [
        f"{path.relative_to(root)}:{number} {line.strip()}"
        for path in source_files(root, ".py", ".ts", ".tsx", ".js", ".css", ".html")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (debt := due.search(line)) and (debt[1] is None or debt[1] < this_month)
    ]


def measured_durations(root: Path) -> list[str]:
    """A test that compares a duration with a limit fails on a slow machine; count work instead.

    A deadline that ends a wait is allowed. The proof measures speed in full size, `bench` always.
    """
    clock = re.compile(r"time\.(monotonic|perf_counter|process_time)(_ns)?\(\) - ")
    return [
        f"{path.relative_to(root)}:{number} measures a duration"
        for path in source_files(root, ".py")
        if path.name.startswith("test_") and "proof" not in path.relative_to(root).parts
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if clock.search(line)
    ]


def fixed_ports(root: Path) -> list[str]:
    """Another program, as the demo, may use a fixed port; `free_port` reserves a free one."""
    fixed = re.compile(
        r"""(bind|create_server|Server)\(\("[^"]*", [1-9]|"--port", "\d"""
        r"""|(command|nimbill)\("(serve|demo)"(?!.*--port)"""
    )
    return [
        f"{path.relative_to(root)}:{number} uses a fixed port: {line.strip()}"
        for path in source_files(root, ".py")
        if path.is_relative_to(root / "tests")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if fixed.search(line)
    ]


def wall_clock_reads(root: Path) -> list[str]:
    """One module asks for the time of day; waiting uses the monotonic clock, which never jumps."""
    clock = re.compile(r"\btime\.time(_ns)?\(|datetime\.(now|utcnow|today)\(|\bdate\.today\(")
    return [
        f"{path.relative_to(root)}:{number} {line.strip()}"
        for path in source_files(root, ".py")
        if path.is_relative_to(root / "src") and path != root / CLOCK_MODULE
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if clock.search(line)
    ]


def lock_files_with_hosts(root: Path) -> list[str]:
    """Lock files pin by hash and name no host, so that they work with any mirror."""
    violations = []
    for path in sorted((root / "requirements").glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if re.search(r"https?:|--(extra-)?index-url|--find-links|file:|\s@\s", line):
                violations.append(f"{path.relative_to(root)}:{number} {line.strip()}")
    for path in sorted((root / "web").glob("package-lock.json")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if '"resolved"' in line:
                violations.append(f"{path.relative_to(root)}:{number} {line.strip()}")
    return violations


def requirements_without_hash(root: Path) -> list[str]:
    """Every pinned line is followed by at least one hash."""
    violations = []
    for path in sorted((root / "requirements").glob("*.txt")):
        lines = path.read_text().splitlines()
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            if line[:1].isalnum() and not ("==" in line and "--hash=sha256:" in following):
                violations.append(
                    f"{path.relative_to(root)} does not pin {line.split()[0]} by hash"
                )
    return violations
