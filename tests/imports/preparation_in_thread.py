"""Prepares imports in a thread of the test process; starting a process takes seconds."""

from __future__ import annotations

import asyncio
import os
from unittest.mock import patch

from nimbill.foundation.settings import Settings
from nimbill.imports.preparation import ImportRequest, PreparedImport, prepare_import
from nimbill.jobs.runner import ReportProgress


async def prepare_in_thread(
    settings: Settings, request: ImportRequest, _report_progress: ReportProgress
) -> PreparedImport:
    """Replace `run_preparation` of `nimbill.imports.job_types` with this."""
    with patch.dict(os.environ, settings.to_child_environment()):
        return await asyncio.to_thread(prepare_import, request, lambda _: None)
