"""No route, job or command reaches an operation without the check for its approval."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from nimbill.approvals.approval_kinds import ApprovalKind

SOURCE = Path(__file__).parents[2] / "src" / "nimbill"
CHECKS = {"require_approval", "_require_approval", "is_approval_required"}

# The query that makes the change: the functions that call it. Each of them checks the approval.
CHANGES = {
    "save_month_state": {
        "closing/steps/operations.py reopen_month",
        "closing/steps/operations.py close_month",
    },
    "store_settings": {"customers/organisation_settings/operations.py change_settings"},
    "save_rates": {"invoicing/runs/operations.py save_exchange_rates"},
    "add_note": {"credit_notes/operations.py store_note"},
    "give_new_number": {"corrections/replacements/operations.py store_replacement"},
    "records.cancel": {"issuing/sending/operations.py cancel"},
    "records.mark_as_sent": {"issuing/sending/operations.py mark_all_as_sent"},
    "add_invoice_template": {"customers/invoice_templates/operations.py create_invoice_template"},
    "records.change_invoice_template": {
        "customers/invoice_templates/operations.py change_invoice_template"
    },
}


@cache
def list_calls(source: Path) -> dict[str, set[str]]:
    """Map each function to what it calls."""
    return {
        f"{file.relative_to(source)} {function.name}": {
            ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)
        }
        for file in sorted(source.rglob("*.py"))
        for function in ast.walk(ast.parse(file.read_text()))
        if isinstance(function, ast.AsyncFunctionDef | ast.FunctionDef)
    }


def find_callers(source: Path, name: str) -> dict[str, set[str]]:
    """Map the functions that call it to what else they call."""
    return {
        function: called
        for function, called in list_calls(source).items()
        if any(each == name or each.endswith(f".{name}") for each in called)
    }


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_made_in_places_that_check(change: str) -> None:
    callers = find_callers(SOURCE, change)

    assert set(callers) == CHANGES[change]
    for called in callers.values():
        assert CHECKS & called


def test_a_release_is_written_in_one_place() -> None:
    """Other changes of imports do not write why they were released."""
    files = [
        str(file.relative_to(SOURCE))
        for file in sorted(SOURCE.rglob("*.py"))
        if "release_reason=reason" in file.read_text()
    ]

    assert files == ["imports/operations.py"]
    callers = find_callers(SOURCE, "change_import")
    assert "require_approval" in callers["imports/operations.py release_import"]


def test_only_the_operations_of_approvals_create_an_approved_request() -> None:
    assert set(find_callers(SOURCE, "ApprovedRequest")) == {
        "approvals/operations.py request_approval",
        "approvals/operations.py approve",
    }


def test_each_kind_is_checked_somewhere() -> None:
    text = "\n".join(file.read_text() for file in SOURCE.rglob("operations.py"))

    for kind in ApprovalKind:
        assert f"ApprovalKind.{kind}, approved)" in text or kind is ApprovalKind.invoice_issue
    assert "is_approval_required(db, scope, ApprovalKind.invoice_issue)" in text


def test_a_way_around_is_found(tmp_path: Path) -> None:
    (tmp_path / "shortcut.py").write_text(
        "async def close(db, scope):\n    await months.save_month_state(db, scope)\n"
    )

    assert find_callers(tmp_path, "save_month_state") == {
        "shortcut.py close": {"months.save_month_state"}
    }
