"""The steps that create the seed data, in order. Repeating a step changes nothing."""

import csv
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_DOWN, Decimal
from functools import partial
from io import StringIO
from typing import NamedTuple

from nimbill.customers.resellers.meta_flags import FLAGS
from nimbill.demo.api_client import DemoClient, existing_allowed
from nimbill.demo.contract_terms import USAGE_TABLE
from nimbill.demo.cost_deliveries import list_deliveries
from nimbill.demo.cost_steps import (
    apply_adjustments,
    import_late_correction,
    start_imports,
    wait_for_imports,
)
from nimbill.demo.customers import DemoCustomer
from nimbill.demo.fixtures import (
    ACCOUNT_GROUP,
    FULL_PORTAL,
    ON_RECEIPT,
    PORTAL_LOGINS,
    PORTAL_SUBUSER,
    REPORT_TAG_KEYS,
    SUBUSERS,
    TAG_KEY,
    DemoSubuser,
    invoice_templates,
    list_cloud_accounts,
    list_projects,
)
from nimbill.demo.invoice_steps import (
    create_invoices,
    download_invoices,
    save_current_month_settings,
)
from nimbill.demo.logins import derive_password
from nimbill.demo.logo import draw_logo
from nimbill.demo.monthly_data import (
    CLOSED_MONTHS,
    CURRENT_MONTH,
    FREE_FORMAT_ITEMS,
    LAST_CLOSED_MONTH,
    MONTHS_MIN,
    OPEN_MONTH,
    PARTLY_PAID,
    PAYS_ON_RECEIPT,
    UNPAID,
)
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill.demo.sending_steps import (
    add_contacts,
    add_webhook,
    correct_invoice,
    mail_invoices,
)
from nimbill.demo.stack_steps import launch_stack  # version 3
from nimbill.foundation import clock
from nimbill.foundation.calendar_month import add_months
from nimbill_client import (
    AccountGroupCreate,
    ApprovalRequestBody,
    Band,
    BillingGroupCreate,
    Client,
    CloudAccountCreate,
    FilteringRule,
    FreeFormatItem,
    InvoiceSetting,
    InvoiceTemplateBody,
    Notification,
    OrganisationSettingsChange,
    ProjectBody,
    Receivable,
    ResellerCreate,
    Role,
    RoleReference,
    SubuserCreate,
)
from nimbill_client.portal import Portal

# Flags that begin with aq_ belong to pages that do not exist.
PORTAL_PAGES = {flag: True for flag in FLAGS if not flag.startswith("aq_")}

TITLES = {"ja": "クラウド利用料 請求書", "en": "Invoice for cloud services"}

SeedSteps = dict[str, Callable[[DemoClient, DemoReseller], None]]

REQUESTER = SUBUSERS[0].username

CREDITED = ("BG-0029", "aws")  # customer and vendor; the invoice is not paid yet

AMOUNT = 3_000  # yen before tax

REASON = "障害に対するお詫び"

COMMENT = f"{REASON}として返金します。ご確認をお願いします。"

TIME_ZONE = "Asia/Tokyo"  # of the demo's organisations

COLUMNS = ("invoice_no", "amount", "paid_on", "note")


def save_organisation_settings(client: DemoClient, reseller: DemoReseller) -> None:
    client.api.settings.change(
        OrganisationSettingsChange(
            rounding=reseller.rounding,
            usage_table=[Band(**band) for band in USAGE_TABLE],
            invoice_setting_update="either",  # so that terms with 10 % tax can be changed
            cost_tag_key=TAG_KEY,
            report_tag_keys=REPORT_TAG_KEYS,
            language="ja",
            portal_name=reseller.name,
            portal_colour=reseller.colour,
            portal_shows_payments=True,
        )
    )
    client.api.settings.save_logo(draw_logo(reseller.colour))


def add_projects(client: DemoClient, reseller: DemoReseller) -> None:
    for project in list_projects(reseller):
        body = ProjectBody(
            project_code=project.code,
            project_label=project.label,
            project_currency=project.currency,
        )
        with existing_allowed():
            client.api.projects.create(body, key=f"demo-project-{project.code}")


def add_templates(client: DemoClient, reseller: DemoReseller) -> None:
    for name, template in invoice_templates(reseller).items():
        with existing_allowed():
            client.api.invoice_templates.create(
                InvoiceTemplateBody(**template), key=f"demo-template-{name}"
            )


def add_billing_groups(client: DemoClient, reseller: DemoReseller) -> None:
    """Creates each billing group with its terms, project and invoice template."""
    project_ids = {
        project.project_code: project.project_id for project in client.api.projects.list_all()
    }
    group_projects = {
        group: project_ids[project.code]
        for project in list_projects(reseller)
        for group in project.billing_groups
    }
    template_ids = {
        template.name: template.invoice_template_id
        for template in client.api.invoice_templates.list_all()
    }
    templates = {
        name: template_ids[template["name"]]
        for name, template in invoice_templates(reseller).items()
    }
    for customer in reseller.customers:
        group = _build_billing_group(
            customer,
            project_id=group_projects.get(customer.billinggroup_id),
            invoice_template_id=templates[choose_template(customer)],
        )
        with existing_allowed():
            client.api.billing_groups.create(group, key=f"demo-{customer.billinggroup_id}")


def choose_template(customer: DemoCustomer) -> str:
    return ON_RECEIPT if customer.billinggroup_id == PAYS_ON_RECEIPT else customer.language


def _build_billing_group(
    customer: DemoCustomer, *, project_id: str | None, invoice_template_id: str
) -> BillingGroupCreate:
    return BillingGroupCreate(
        billinggroup_id=customer.billinggroup_id,
        billinggroup_name=customer.name,
        company_name=customer.company_name,
        phone=customer.phone,
        postal=customer.postal,
        address=customer.address,
        billing_title=TITLES[customer.language],
        personal=customer.personal,
        remarks=customer.remarks,
        inv_aggregate=customer.inv_aggregate,
        project_id=project_id,
        invoice_template_id=invoice_template_id,
        invoices={
            vendor: InvoiceSetting(**setting) for vendor, setting in customer.invoices.items()
        },
        language=customer.language,
    )


def add_cloud_accounts(client: DemoClient, reseller: DemoReseller) -> None:
    companies = client.company_ids()
    for account in list_cloud_accounts(reseller):
        body = CloudAccountCreate(
            vendor=account.vendor,
            customer_id=account.customer_id,
            account_id=account.account_id,
            company_id=companies[account.customer.billinggroup_id],
            name=account.name,
        )
        with existing_allowed():
            client.api.accounts.create(body, key=f"demo-account-{account.customer_id}")


def add_free_format_items(client: DemoClient, reseller: DemoReseller) -> None:
    companies = client.company_ids()
    for (group, vendor), items in FREE_FORMAT_ITEMS.items() if reseller is AOZORA else ():
        body = [
            FreeFormatItem(
                enabled=enabled,
                label=label,
                unit_cost=Decimal(price),
                quantity=Decimal(quantity),
                total=Decimal(price) * Decimal(quantity),
            )
            for label, price, quantity, enabled in items
        ]
        with existing_allowed():
            client.api.billing_groups.save_items(
                companies[group], vendor, body, key=f"demo-items-{group}-{vendor}"
            )


def add_portal_logins(client: DemoClient, reseller: DemoReseller) -> None:
    """The demo has no mail server: messages are written into the outbox folder."""
    companies = client.company_ids()
    for group, email in PORTAL_LOGINS.items() if reseller is AOZORA else ():
        body = ResellerCreate(
            email=email,
            company_id=companies[group],
            input_type="Custom",
            password=derive_password(client.login, email),
            notification=True,
            meta=PORTAL_PAGES if group == FULL_PORTAL else {},
        )
        with existing_allowed():
            client.api.portal_logins.create(body, key=f"demo-portal-{group}")


def add_account_group(client: DemoClient, reseller: DemoReseller) -> None:
    """The customer with all pages of the portal puts all but its first account into a group."""
    if reseller is not AOZORA:
        return
    accounts = [
        account.customer_id
        for account in list_cloud_accounts(reseller)
        if account.customer.billinggroup_id == FULL_PORTAL and account.number > 0
    ]
    group = AccountGroupCreate(name=ACCOUNT_GROUP, customer_ids=accounts)
    with client.sign_in_as(PORTAL_LOGINS[FULL_PORTAL]) as customer, existing_allowed():
        customer.portal.create_account_group(group, key="demo-account-group")


def add_subusers(client: DemoClient, reseller: DemoReseller) -> None:
    """Creates a role, a user and a role assignment for each subuser."""
    companies = client.company_ids()
    for subuser in SUBUSERS if reseller is AOZORA else ():
        _add_subuser(
            client.api,
            subuser,
            derive_password(client.login, subuser.username),
            visible_groups=[companies[group] for group in subuser.billing_groups],
        )


def add_portal_subuser(client: DemoClient, reseller: DemoReseller) -> None:
    """The customer with all pages of the portal lets its accountants read invoices."""
    if reseller is AOZORA:
        with client.sign_in_as(PORTAL_LOGINS[FULL_PORTAL]) as customer:
            password = derive_password(client.login, PORTAL_SUBUSER.username)
            _add_subuser(customer.portal, PORTAL_SUBUSER, password, namespace="portal")


def _add_subuser(
    api: Client | Portal,
    subuser: DemoSubuser,
    password: str,
    *,
    namespace: str = "core",
    visible_groups: Sequence[str] = (),
) -> None:
    role = Role(name=subuser.role, namespace=namespace, permissions=list(subuser.permissions))
    with existing_allowed():
        api.roles.create(role, key=f"demo-role-{subuser.role}")
    user = SubuserCreate(
        username=subuser.username, password=password, notification=Notification(email="false")
    )
    with existing_allowed():
        api.users.create(user, key=f"demo-user-{subuser.username}")
    user_ids = {user.username: user.user_id for user in api.users.list_all()}
    filtering = FilteringRule(
        namespace=namespace, type="billingGroup", resource=list(visible_groups)
    )
    with existing_allowed():
        api.roles.give(
            user_ids[subuser.username],
            [RoleReference(namespace=namespace, role=subuser.role)],
            [filtering] if visible_groups else [],
            key=f"demo-mapping-{subuser.username}",
        )


class SeedPlan(NamedTuple):
    """The steps of one reseller. The guide is printed before the earlier months are seeded."""

    master_data: SeedSteps  # the service imports costs in the background meanwhile
    recent_months: SeedSteps
    earlier_months: SeedSteps


def build_seed_plan(reseller: DemoReseller, months: Sequence[str]) -> SeedPlan:
    """Each step runs once. A later start with more months runs only the additional steps."""
    recent, earlier = months[-MONTHS_MIN:], months[:-MONTHS_MIN]
    return SeedPlan(
        master_data={
            "settings": save_organisation_settings,
            "projects": add_projects,
            "invoice templates": add_templates,
            "billing groups": add_billing_groups,
            # Before the imports, which report accounts that belong to no billing group.
            "accounts": add_cloud_accounts,
            "cost files": partial(start_imports, months=recent),
            "free format items": add_free_format_items,
            "portal logins": add_portal_logins,
            "an account group": add_account_group,
            "a subuser of a customer": add_portal_subuser,
            "contacts": add_contacts,
            "a webhook endpoint": add_webhook,
            "subusers": add_subusers,
            "a stack": launch_stack,  # version 3
        },
        recent_months=_month_steps(reseller, recent) | _recent_month_steps(reseller),
        earlier_months=_earlier_month_steps(reseller, earlier) if reseller is AOZORA else {},
    )


def _month_steps(reseller: DemoReseller, months: Sequence[str]) -> SeedSteps:
    steps: SeedSteps = {}
    for month in months:
        if list_deliveries(reseller, [month]):
            steps[f"costs of {month}"] = partial(wait_for_imports, month=month)
            if month != CURRENT_MONTH:
                steps[f"adjustments of {month}"] = partial(apply_adjustments, month=month)
                steps[f"invoices of {month}"] = partial(create_invoices, month=month)
            if month == LAST_CLOSED_MONTH and reseller is AOZORA:
                steps[f"mails of {month}"] = partial(mail_invoices, month=month)
                steps[f"a correction of {month}"] = partial(correct_invoice, month=month)
            if month in CLOSED_MONTHS:
                steps[f"payments of {month}"] = partial(send_and_pay_invoices, month=month)
    return steps


def _recent_month_steps(reseller: DemoReseller) -> SeedSteps:
    steps: SeedSteps = {}
    if reseller is AOZORA:
        steps[f"settings of {CURRENT_MONTH}"] = save_current_month_settings
        steps[f"a late correction of {LAST_CLOSED_MONTH}"] = import_late_correction
        steps["a request for approval"] = request_approval
    steps[f"PDF invoices of {OPEN_MONTH}"] = download_invoices
    return steps


def _earlier_month_steps(reseller: DemoReseller, months: Sequence[str]) -> SeedSteps:
    if not months:
        return {}
    steps: SeedSteps = {f"cost files since {months[0]}": partial(start_imports, months=months)}
    return steps | _month_steps(reseller, months)


def request_approval(client: DemoClient, _reseller: DemoReseller) -> None:
    """The demo requires no approval, so that every page works for one person alone."""
    group, vendor = CREDITED
    amount = {"description": REASON, "amount": AMOUNT, "tax_free": False}
    request = ApprovalRequestBody(
        kind="credit_note",
        target={
            "month": LAST_CLOSED_MONTH,
            "vendor": vendor,
            "company_id": client.company_ids()[group],
        },
        body={"kind": "manual", "reason": REASON, "amounts": [amount]},
        comment=COMMENT,
    )
    with client.sign_in_as(REQUESTER) as clerk:
        clerk.approvals.request(request, key=f"demo-approval-{LAST_CLOSED_MONTH}")


def send_and_pay_invoices(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    """Marks the invoices of the month as sent and records their payments from a CSV file."""
    companies = client.company_ids()
    for customer in reseller.customers:
        for vendor in customer.contracts:
            company_id = companies[customer.billinggroup_id]
            key = f"demo-sent-{month}-{customer.billinggroup_id}-{vendor}"
            with existing_allowed():
                client.api.invoices.mark_as_sent(month, company_id, vendor, 1, key=key)
    groups = {company_id: group for group, company_id in companies.items()}
    lines = [
        line
        for receivable in client.api.payments.list_receivables()
        if receivable.month == month
        for line in _list_payments(receivable, groups[receivable.company_id])
    ]
    if lines:
        content = StringIO()
        csv.writer(content).writerows([COLUMNS, *lines])
        with existing_allowed():
            client.api.payments.record_from_csv(
                content.getvalue().encode(), key=f"demo-payments-{month}"
            )


def _list_payments(receivable: Receivable, group: str) -> Iterator[tuple[str, ...]]:
    share = Decimal(1)
    if receivable.month == LAST_CLOSED_MONTH:
        share = Decimal(0) if group in UNPAID else PARTLY_PAID.get(group, share)
    left = receivable.open_balance
    amount = left if share == 1 else (left * share).to_integral_value(ROUND_DOWN)
    if amount > 0 and receivable.paid == 0:
        paid_on = choose_day(receivable.month, int(group[-2:]))
        yield receivable.invoice_no, f"{amount:f}", paid_on, "銀行振込"


def choose_day(month: str, number: int) -> str:
    """A day at the end of the month after; at the latest today, which the service requires."""
    day = f"{add_months(month, 1)}-{20 + number % 9:02}"
    return min(day, clock.local_date(clock.now(), TIME_ZONE).isoformat())
