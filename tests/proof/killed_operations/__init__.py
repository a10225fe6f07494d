"""Operations during which workers are killed, one file each."""

from tests.proof.killed_operations.applying import Applying
from tests.proof.killed_operations.approving import Approving
from tests.proof.killed_operations.crediting import Crediting
from tests.proof.killed_operations.importing import Importing
from tests.proof.killed_operations.invoicing import Invoicing
from tests.proof.killed_operations.mailing import Mailing
from tests.proof.killed_operations.moving import Moving
from tests.proof.killed_operations.moving_stacks import MovingStacks  # version 3
from tests.proof.killed_operations.operation import Operation
from tests.proof.killed_operations.paying import Paying
from tests.proof.killed_operations.replacing import Replacing

OPERATIONS: tuple[type[Operation], ...] = (
    Importing,
    Moving,
    Applying,
    Invoicing,
    MovingStacks,  # version 3
    Crediting,
    Replacing,
    Approving,
    Mailing,
    Paying,
)
