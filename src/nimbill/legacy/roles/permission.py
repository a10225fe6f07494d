"""What a user of version 3 may do: the scopes of its roles, asked by every route."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Needs:
    """What a route needs, declared beside its path; `resource` may name path parameters."""

    action: str
    resource: str
