"""Bodies of the agent operations, in the order of the specification."""

from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.http.request_bodies import Body, text_length

ID = text_length(1, 128)
ID_OR_EMPTY = text_length(0, 128)
STATUS = text_length(1, 64)  # any text: the specified values are examples
MESSAGE_LENGTH_MAX = 2_000


class AgentStatusReport(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    stack_id: Annotated[str, ID]
    agent_id: Annotated[str, ID]
    status: Annotated[str, STATUS]
    instance_id: Annotated[str, ID_OR_EMPTY] | None = None
    message: str | None = None  # of any length; the record keeps its beginning


class ContainerStatusReport(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    stack_id: Annotated[str, ID]
    agent_id: Annotated[str, ID]
    container_id: Annotated[str, ID]
    status: Annotated[str, STATUS]
    instance_id: Annotated[str, ID_OR_EMPTY] | None = None


class AgentRecord(Body, frozen=True, kw_only=True):
    """The last report of an agent; times are Unix seconds, as text."""

    basis: ClassVar[Basis] = chosen("agent-notifications")

    agent_id: str
    create_time: str
    update_time: str
    stack_id: str
    instance_id: str
    status: str
    message: str


class ContainerRecord(Body, frozen=True, kw_only=True):
    """The last report about a container."""

    basis: ClassVar[Basis] = stated("Legacy container")

    container_id: str
    agent_id: str
    update_time: str
    stack_id: str
    instance_id: str
    status: str


class ContainerUser(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("published-agent-configuration")

    name: str
    publicKey: str  # noqa: N815


class ContainerStorage(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("published-agent-configuration")

    type: str
    id: str
    mountpath: str


class AgentConfiguration(Body, frozen=True, kw_only=True):
    """Fields that the layer does not define are empty; only agents of the stack see the key."""

    basis: ClassVar[Basis] = stated("Legacy agent configuration")

    image: str
    environment_variables: dict[str, str]
    gitReference: str  # noqa: N815  # spelled as specified
    gitPrivateKey: str  # noqa: N815
    gitRepo: str  # noqa: N815
    updated: int

    # what published agents read
    published_basis: ClassVar[Basis] = chosen("published-agent-configuration")

    container_image: str
    container_env_vars: dict[str, str]
    container_git_reference: str
    container_git_private_key: str
    container_git_repo: str
    container_updated: int
    container_registry_username: str
    container_registry_password: str
    container_code_dir: str
    container_ports: list[int]
    container_users: list[ContainerUser]
    container_addons: list[str]
    container_storage: ContainerStorage | None


class SessionCredentials(Body, frozen=True, kw_only=True):
    """Temporary credentials of AWS, for the agent of a stack only."""

    basis: ClassVar[Basis] = chosen("agent-session-credentials")

    AccessKeyID: str
    SecretAccessKey: str
    SessionToken: str
