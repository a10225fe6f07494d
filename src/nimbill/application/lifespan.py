"""The resources of a worker process, from its start to its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from litestar import Litestar
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.access.hooks import Hooks, RunJobNow
from nimbill.access.request_context import Resources
from nimbill.access.signing_keys import load_signing_keys
from nimbill.access.tokens import Tokens
from nimbill.application.installed import (
    EXTENSIONS,
    installed_caller_loaders,
    installed_issuers,
    installed_rights,
)
from nimbill.application.maintenance import maintenance_job_types, run_hourly_maintenance
from nimbill.application.service_metrics import ServiceMetrics, report_pool_regularly
from nimbill.approvals.approvable_operation import ApprovableOperation
from nimbill.approvals.approval_events import approval_job_types
from nimbill.closing.steps.approval import CLOSE_MONTH, REOPEN_MONTH
from nimbill.corrections.drift.approval import CREDIT_INVOICE
from nimbill.costs.lake.records import list_charged_accounts
from nimbill.customers.billing_groups.group_names import list_group_names
from nimbill.customers.billing_groups.records import find_company_ids
from nimbill.customers.invoice_templates.approval import SAVE_INVOICE_TEMPLATE
from nimbill.customers.organisation_settings.approval import CHANGE_SETTINGS
from nimbill.customers.organisation_settings.records import (
    find_issuer_name,
    load_vendors,
    requires_second_factor,
)
from nimbill.customers.resellers.records import find_language
from nimbill.database.connection_watch import ConnectionWatch
from nimbill.database.tenant_scope import create_app_engine
from nimbill.foundation.encryption import Encryptor, load_key
from nimbill.foundation.settings import Settings
from nimbill.imports.approval import RELEASE_IMPORT
from nimbill.imports.job_types import import_job_types
from nimbill.invoicing.documents.vendor_uses import find_used_vendors
from nimbill.invoicing.pdf.compiler_pool import CompilerPool
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter
from nimbill.invoicing.runs.approval import SAVE_RATES
from nimbill.invoicing.runs.invoice_run import invoice_job_types
from nimbill.issuing.deliveries.delivery_job import delivery_job_types
from nimbill.issuing.sending.approval import APPROVE_INVOICES
from nimbill.issuing.sending.pdf_job import sent_pdf_job_types
from nimbill.jobs.runner import JobRunner, JobType
from nimbill.portal.budgets.evaluation import budget_job_types
from nimbill.webhooks.delivery import webhook_job_types

APPROVABLE_OPERATIONS: Mapping[str, ApprovableOperation] = {
    operation.kind: operation
    for operation in (
        APPROVE_INVOICES,
        CREDIT_INVOICE,
        CLOSE_MONTH,
        REOPEN_MONTH,
        RELEASE_IMPORT,
        SAVE_RATES,
        CHANGE_SETTINGS,
        SAVE_INVOICE_TEMPLATE,
    )
}


def build_lifespan(settings: Settings) -> Callable[[Litestar], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        assert settings.database_url is not None, "`nimbill serve` sets the address"
        engine = create_app_engine(settings.database_url, settings.pool_size)
        watch = ConnectionWatch(engine)
        encryptor = load_key(settings.key_file)
        async with engine.connect() as db:
            keys = await load_signing_keys(db, encryptor)
        tokens = Tokens(keys, installed_issuers(settings))
        compilers = CompilerPool()
        printer = PdfPrinter(engine, compilers)
        job_types = list_job_types(settings, engine, encryptor, printer)
        runner = JobRunner(engine, job_types)
        resources = Resources(
            settings,
            engine,
            encryptor,
            tokens,
            installed_caller_loaders(),
            installed_rights(),
            build_hooks(runner.run_now),
        )
        app.state.resources = resources
        lanes = {job_type.name: job_type.effective_lane for job_type in job_types}
        app.state.service_metrics = ServiceMetrics(engine, settings, lanes)
        app.state.pdf_compilers = compilers
        stopping = asyncio.Event()
        tasks = [
            asyncio.create_task(runner.run()),
            asyncio.create_task(run_hourly_maintenance(resources, stopping)),
            asyncio.create_task(report_pool_regularly(engine, stopping)),
            asyncio.create_task(watch.run(stopping)),
        ]
        try:
            yield
        finally:
            runner.stop()
            stopping.set()
            await asyncio.gather(*tasks, *resources.background_tasks)
            await app.state.pdf_compilers.close()
            await engine.dispose()

    return lifespan


def build_hooks(run_job_now: RunJobNow) -> Hooks:
    return Hooks(
        run_job_now=run_job_now,
        list_charged_accounts=list_charged_accounts,
        load_vendors=load_vendors,
        find_used_vendors=find_used_vendors,
        find_company_ids=find_company_ids,
        list_group_names=list_group_names,
        find_language=find_language,
        requires_second_factor=requires_second_factor,
        find_issuer_name=find_issuer_name,
        approvable_operations=APPROVABLE_OPERATIONS,
    )


def list_job_types(
    settings: Settings, engine: AsyncEngine, encryptor: Encryptor, printer: PdfPrinter
) -> list[JobType]:
    return [
        *import_job_types(settings, engine),
        *invoice_job_types(engine),
        *budget_job_types(settings, encryptor),
        *webhook_job_types(settings, engine, encryptor),
        *approval_job_types(),
        *(
            job_type
            for extension in EXTENSIONS
            for job_type in extension.job_types(settings, engine, encryptor)
        ),
        *maintenance_job_types(settings, encryptor),
        *delivery_job_types(settings, printer),
        *sent_pdf_job_types(printer),
    ]
