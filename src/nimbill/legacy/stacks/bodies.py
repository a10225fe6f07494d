"""Response bodies of the stack operations, in the order of the specification."""

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.http.request_bodies import Body, Success
from nimbill.legacy.stacks.stack_transitions import StackStatus


class Stack(Body, frozen=True, kw_only=True):
    """As specified, followed by the reason of a failure."""

    basis: ClassVar[Basis] = stated("Legacy stack")
    reason_basis: ClassVar[Basis] = chosen("stack-reason")

    stack_id: str
    version_id: str
    stack_status: StackStatus
    configuration: dict[str, Any]
    nickname: str
    create_time: str
    user_id: str
    username: str
    auth_token: str
    reason: str | None


class Ec2State(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("stack-instances")

    Name: str


class StackInstance(Body, frozen=True, kw_only=True):
    """With the names of EC2; what is unknown is omitted."""

    basis: ClassVar[Basis] = chosen("stack-instances")

    InstanceId: str
    InstanceType: str | UnsetType = UNSET
    InstanceLifecycle: str | UnsetType = UNSET  # "spot", or omitted
    PublicDnsName: str | UnsetType = UNSET
    PublicIpAddress: str | UnsetType = UNSET
    PrivateIpAddress: str | UnsetType = UNSET
    State: Ec2State


class DescribedStack(Stack, frozen=True, kw_only=True):
    """A stack with its instances by the flag of their layer."""

    basis: ClassVar[Basis] = chosen("stack-instances")

    instances: dict[str, list[StackInstance]]


class StackDeletion(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("delete-stack")

    stack_status: StackStatus
    stack_id: str
