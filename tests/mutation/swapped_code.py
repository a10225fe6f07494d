"""Puts a mutant into the functions of a running process, and takes it out again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType

CodePair = tuple[CodeType, CodeType]  # without and with the fault


class NotSwappable(Exception):
    """The fault is in code that runs at import, or no function has this code."""


@contextmanager
def swapped_code(path: str, original: str, mutated: str) -> Iterator[None]:
    """Replace the code of all functions in which the two sources differ."""
    pairs = differing_functions(path, original, mutated)
    functions = [(function, *pair) for pair in pairs for function in _functions_with(pair[0])]
    if not functions:
        raise NotSwappable(path)
    if any(len(new.co_freevars) != len(old.co_freevars) for _, old, new in functions):
        raise NotSwappable(path)
    try:
        for function, _, new in functions:
            function.__code__ = new
        yield
    finally:
        for function, old, _ in functions:
            function.__code__ = old


def differing_functions(path: str, original: str, mutated: str) -> list[CodePair]:
    """Functions, methods and what is nested in them; the code of classes and modules is not."""
    old = compile(original, path, "exec", dont_inherit=True)
    new = compile(mutated, path, "exec", dont_inherit=True)
    if _instructions(old) != _instructions(new):
        raise NotSwappable(path)
    return list(_differing(old, new))


def _differing(old: CodeType, new: CodeType) -> Iterator[CodePair]:
    for old_child, new_child in zip(_children(old), _children(new), strict=False):
        if old_child.co_name != new_child.co_name or _same(old_child, new_child):
            continue
        is_class = "__module__" in old_child.co_names and "__qualname__" in old_child.co_names
        if is_class and _instructions(old_child) != _instructions(new_child):
            raise NotSwappable(old_child.co_qualname)
        if not is_class:
            yield old_child, new_child
        yield from _differing(old_child, new_child)


def _children(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _instructions(code: CodeType) -> tuple[object, ...]:
    """What the code does by itself, without the functions that it creates."""
    constants = [
        (type(constant), constant)
        for constant in code.co_consts
        if not isinstance(constant, CodeType)
    ]
    return code.co_code, code.co_names, tuple(constants), code.co_varnames


def _same(old: CodeType, new: CodeType) -> bool:
    """Line numbers do not count: a fault may have fewer lines than the original."""
    return _instructions(old) == _instructions(new) and all(
        _same(*pair) for pair in zip(_children(old), _children(new), strict=True)
    )


def _functions_with(code: CodeType) -> list[FunctionType]:
    return [
        each
        for each in gc.get_objects()
        if type(each) is FunctionType  # proxies of libraries answer isinstance
        and each.__code__ == code
        and each.__code__.co_filename == code.co_filename
    ]
