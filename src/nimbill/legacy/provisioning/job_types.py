"""The job that reconciles stacks, in a lane of its own so that imports do not delay it."""

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.foundation.encryption import Encryptor
from nimbill.jobs.runner import JobType
from nimbill.legacy.provisioning.finish_pass import fail_in_progress_stack, finish_pass
from nimbill.legacy.provisioning.reconciler import StackReconciler
from nimbill.legacy.settings import LegacySettings
from nimbill.legacy.stacks.records import RECONCILE_STACK

# See docs/choices.md, stack-reconciliation.

LANE = "stacks"


def stack_job_types(
    settings: LegacySettings, engine: AsyncEngine, encryptor: Encryptor
) -> list[JobType]:
    reconciler = StackReconciler(settings, engine, encryptor)
    return [
        JobType(
            RECONCILE_STACK,
            finish_pass,
            prepare=reconciler.run_pass,
            on_failure=fail_in_progress_stack,
            lane=LANE,
        )
    ]
