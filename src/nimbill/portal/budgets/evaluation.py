"""Compares budgets after an import and queues one mail per threshold that was passed.

Each company has a job of its own, so that a failure is retried without the others. The row that
marks an alert and its mails are stored in one transaction: a repeated job sends nothing twice.
"""

from datetime import date
from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.customers.organisation_settings.records import OrganisationSettings, load_settings
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.language import Language
from nimbill.foundation.money import ExactAmount, round_amount, to_exact
from nimbill.foundation.settings import Settings
from nimbill.imports.commit_import import EVALUATE_BUDGETS
from nimbill.invoicing.pdf.number_format import format_money, format_month
from nimbill.jobs.records import add_job
from nimbill.jobs.runner import Job, JobType
from nimbill.mail.delivery import queue_message
from nimbill.mail.messages import Message, budget_threshold_passed
from nimbill.portal.budgets import records
from nimbill.portal.budgets.bodies import AlertSettings, Threshold, ThresholdBase
from nimbill.portal.budgets.states import BudgetMonth, compare_budgets
from nimbill.portal.report_months import current_day
from nimbill.portal.view import load_company_view
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import Announcement, publish_events

EVALUATE_COMPANY_BUDGETS = "evaluate_company_budgets"


def budget_job_types(settings: Settings, encryptor: Encryptor) -> list[JobType]:
    async def schedule_companies(db: AsyncConnection, job: Job) -> None:
        if is_alerted_month(job.payload["month"], current_day()):
            await _add_company_jobs(db, job)

    async def evaluate(db: AsyncConnection, job: Job) -> None:
        evaluation = Evaluation(settings, encryptor, job.scope, job.payload["company_id"])
        await evaluation.run(db, job.payload["month"], current_day())

    return [
        JobType(EVALUATE_BUDGETS, schedule_companies),
        JobType(EVALUATE_COMPANY_BUDGETS, evaluate),
    ]


def is_alerted_month(month: str, today: date) -> bool:
    """Nobody acts on a budget of an older month, for example when old costs are imported."""
    current = f"{today:%Y-%m}"
    return month in (current, add_months(current, -1))


async def _add_company_jobs(db: AsyncConnection, job: Job) -> None:
    """The subject contains the import: a job that runs already may have read older costs."""
    for company_id in await records.list_companies_with_alerts(db, job.scope):
        await add_job(
            db,
            job.scope,
            EVALUATE_COMPANY_BUDGETS,
            due=clock.now(),
            subject=f"{job.subject} {company_id}",
            payload={"company_id": company_id, "month": job.payload["month"]},
        )


class Evaluation:
    """Compares the budgets of one company with one month."""

    def __init__(
        self, settings: Settings, encryptor: Encryptor, scope: TenantScope, company_id: str
    ) -> None:
        self.settings, self.encryptor, self.scope = settings, encryptor, scope
        self.company_id = company_id

    async def run(self, db: AsyncConnection, month: str, today: date) -> None:
        """Do nothing if alerts were disabled or the company was deleted meanwhile."""
        alerts = await records.load_alert_settings(db, self.scope, self.company_id)
        budgets = await records.list_budgets(db, self.scope, self.company_id)
        if not alerts.enabled or not is_alerted_month(month, today):
            return
        view = await load_company_view(db, self.scope, self.company_id)
        compared = await compare_budgets(db, view, budgets, month, today)
        announcements: list[Announcement] = []
        for budget_month in compared.months:
            for threshold in budget_month.budget.thresholds:
                if budget_month.has_passed(threshold) and await records.add_alert(
                    db,
                    self.scope,
                    self.company_id,
                    budget_month.budget.budget_id,
                    month,
                    threshold,
                ):
                    await self._queue_mails(db, alerts, budget_month, threshold, month)
                    announcements.append(self._announce(budget_month, threshold, month))
        await publish_events(db, self.scope, announcements)

    def _announce(
        self, budget_month: BudgetMonth, threshold: Threshold, month: str
    ) -> Announcement:
        alert: dict[str, str | int] = {
            "budget_id": budget_month.budget.budget_id,
            "company_id": self.company_id,
            "month": month,
            "percent": threshold.percent,
            "of": threshold.of.value,
        }
        return Announcement(WebhookEventType.budget_alert, alert)

    async def _queue_mails(
        self,
        db: AsyncConnection,
        alerts: AlertSettings,
        budget_month: BudgetMonth,
        threshold: Threshold,
        month: str,
    ) -> None:
        (group,) = await list_billing_groups(
            db, TenantScope(self.scope.organisation_id, frozenset({self.company_id}))
        )
        organisation = await load_settings(db, self.scope)
        language = alerts.language or Language(group.language or organisation.language)
        for recipient in alerts.recipients:
            message = build_mail(
                recipient,
                group.name,
                budget_month,
                threshold,
                month,
                language,
                organisation,
                f"{self.settings.link_url}/portal",
            )
            await queue_message(db, self.scope, self.encryptor, message)


def build_mail(
    to: str,
    company: str,
    budget_month: BudgetMonth,
    threshold: Threshold,
    month: str,
    language: Language,
    organisation: OrganisationSettings,
    address: str,
) -> Message:
    """Amounts are rounded once, as on invoices of the organisation."""
    budget = budget_month.budget
    amount = budget_month.get_amount(threshold.of)
    assert amount is not None, "an unknown amount passes no threshold"

    def format_rounded(exact: ExactAmount | Decimal) -> str:
        rounded = round_amount(to_exact(exact), budget.currency, organisation.rounding)
        return format_money(rounded, budget.currency, language)

    return budget_threshold_passed(
        to=to,
        company=company,
        budget=budget.name,
        month=format_month(month, language),
        percent=threshold.percent,
        is_forecast=threshold.of is ThresholdBase.forecast,
        limit=format_rounded(budget.amount),
        amount=format_rounded(amount),
        address=address,
        language=language,
    )
