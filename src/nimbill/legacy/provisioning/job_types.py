"""How the work loop moves stacks: in a lane of their own, so that no import holds them up."""

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Sealer
from nimbill.foundation.settings import Settings
from nimbill.jobs.runner import Kind
from nimbill.legacy.provisioning.reconciler import Mover
from nimbill.legacy.provisioning.settling import give_up, settle
from nimbill.legacy.stacks.records import MOVE_STACK

basis = chosen("stack-passes")

LANE = "stacks"


def stack_kinds(settings: Settings, engine: AsyncEngine, sealer: Sealer) -> list[Kind]:
    mover = Mover(settings, engine, sealer)
    return [Kind(MOVE_STACK, settle, prepare=mover.carry_out, give_up=give_up, lane=LANE)]
