"""Prints docs/surface.md: every route, who may call it, and where that is said."""

from nimbill.access.gate import Public, own_routes
from nimbill.application.app import litestar_app
from nimbill.application.installed import load_settings

HEAD = """# Every route

Made by `make surface` from what the routes declare; not edited by hand. Any one of the role
actions suffices. A *stated* basis is a heading of the specification, a *chosen* one a heading of
[choices.md](choices.md).

| Method | Path | Tokens | Role actions | Basis | Where |
|---|---|---|---|---|---|"""


def surface() -> str:
    """The page, a row for each method and path."""
    rows = []
    for path, handler in own_routes(litestar_app(load_settings({}))):
        audiences = handler.opt["audiences"]
        tokens = (
            "none"
            if isinstance(audiences, Public)
            else ", ".join(audience.name for audience in audiences)
        )
        actions = ", ".join(handler.opt["role_actions"]) or "–"
        where = f"{handler.fn.__module__}.{handler.fn.__name__}"
        for method in sorted(handler.http_methods):
            basis = handler.opt["basis"]
            rows.append((path, method, f"{tokens} | {actions} | {basis} | {where}"))
    lines = [f"| {method} | {path} | {rest} |" for path, method, rest in sorted(rows)]
    return "\n".join([HEAD, *lines]) + "\n"


if __name__ == "__main__":
    print(surface(), end="")
