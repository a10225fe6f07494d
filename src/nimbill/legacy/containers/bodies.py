"""Response bodies of the container operations, in the order of the specification."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, stated
from nimbill.http.request_bodies import Body


class Container(Body, frozen=True, kw_only=True):
    """The time is Unix seconds, as text; an unknown instance id is empty."""

    basis: ClassVar[Basis] = stated("Legacy container")

    container_id: str
    agent_id: str
    update_time: str
    stack_id: str
    instance_id: str
    status: str
