"""Bodies of the agent operations, row by row as specified."""

from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.http.request_bodies import Body, text

NAMED = text(1, 128)
NAMED_OR_EMPTY = text(0, 128)
STATUS = text(1, 64)  # any: the specified ones are examples


class AgentStatusReport(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    stack_id: Annotated[str, NAMED]
    agent_id: Annotated[str, NAMED]
    status: Annotated[str, STATUS]
    instance_id: Annotated[str, NAMED_OR_EMPTY] | None = None
    message: Annotated[str, text(0, 2_000)] | None = None


class ContainerStatusReport(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    stack_id: Annotated[str, NAMED]
    agent_id: Annotated[str, NAMED]
    container_id: Annotated[str, NAMED]
    status: Annotated[str, STATUS]
    instance_id: Annotated[str, NAMED_OR_EMPTY] | None = None


class AgentRecord(Body, frozen=True, kw_only=True):
    """An agent as it last reported; times are Unix time in seconds, as text."""

    basis: ClassVar[Basis] = chosen("agent-notifications")

    agent_id: str
    create_time: str
    update_time: str
    stack_id: str
    instance_id: str
    status: str
    message: str


class ContainerRecord(Body, frozen=True, kw_only=True):
    """A container as it was last reported."""

    basis: ClassVar[Basis] = stated("Legacy container")

    container_id: str
    agent_id: str
    update_time: str
    stack_id: str
    instance_id: str
    status: str


class AgentConfiguration(Body, frozen=True, kw_only=True):
    """What the layer does not define is empty; a key is given in clear to its stack's agent."""

    basis: ClassVar[Basis] = stated("Legacy agent configuration")

    image: str
    environment_variables: dict[str, str]
    gitReference: str  # noqa: N815  # spelled as specified
    gitPrivateKey: str  # noqa: N815
    gitRepo: str  # noqa: N815
    updated: int
