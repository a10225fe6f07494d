"""Bodies of the container operations, row by row as specified."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, stated
from nimbill.http.request_bodies import Body


class Container(Body, frozen=True, kw_only=True):
    """The time is Unix time in seconds, as text; an instance that nobody named is empty."""

    basis: ClassVar[Basis] = stated("Legacy container")

    container_id: str
    agent_id: str
    update_time: str
    stack_id: str
    instance_id: str
    status: str
