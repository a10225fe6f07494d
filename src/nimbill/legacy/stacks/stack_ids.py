"""The ids of stacks; the agents of a stack log in with its id as their client id."""

from nimbill.foundation.ids import new_id

STACK_LOOKUP = "stack"  # the kind under which the tenant of a stack id is looked up

_PREFIX = "stk"


def new_stack_id() -> str:
    return new_id(_PREFIX)


def is_stack_id(client_id: str) -> bool:
    """Whether a client id is that of an agent; the ids of API clients have another prefix."""
    return client_id.startswith(f"{_PREFIX}_")
