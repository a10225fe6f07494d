"""The job that stores the PDF of an invoice that was marked as sent together with others.

A stored PDF never changes, so that a later version of the service, with another layout, prints
the invoice exactly as it was sent.
"""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter, load_revision_pdf
from nimbill.jobs.runner import Job, JobType, ReportProgress

STORE_SENT_PDF = "store_sent_pdf"
LANE = "pdf"  # thousands of files delay nothing else


def build_subject(period: BillingPeriod, company_id: str, revision: int) -> str:
    return f"{period.month}/{period.vendor}/{company_id}/{revision}"


def sent_pdf_job_types(printer: PdfPrinter) -> list[JobType]:
    async def store(job: Job, _report: ReportProgress) -> None:
        month, vendor, company_id, revision = job.subject.split("/")
        period = BillingPeriod(month, vendor)
        await load_revision_pdf(printer, job.scope, period, company_id, int(revision))

    return [JobType(STORE_SENT_PDF, _complete, prepare=store, lane=LANE)]


async def _complete(_db: AsyncConnection, _job: Job) -> datetime | None:
    """The PDF is stored before the job is completed."""
    return None
