"""How the work loop moves stacks: in a lane of their own, so that no import holds them up."""

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.jobs.runner import JobType
from nimbill.legacy.provisioning.reconciler import StackReconciler
from nimbill.legacy.provisioning.settling import give_up, settle
from nimbill.legacy.settings import LegacySettings
from nimbill.legacy.stacks.records import MOVE_STACK

basis = chosen("stack-reconciliation")

LANE = "stacks"


def stack_job_types(
    settings: LegacySettings, engine: AsyncEngine, encryptor: Encryptor
) -> list[JobType]:
    mover = StackReconciler(settings, engine, encryptor)
    return [JobType(MOVE_STACK, settle, prepare=mover.carry_out, on_failure=give_up, lane=LANE)]
