"""What a customer reads in the portal. Amounts are at the customer's price, unrounded."""

from decimal import Decimal

from nimbill_client.record import BilledVendor, Record


class Company(Record, frozen=True, kw_only=True):
    """The billing group of a customer."""

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    name: str


class View(Record, frozen=True, kw_only=True):
    """Who sees the portal as the customer does, and until when."""

    view_id: str
    viewer: str
    expire_time: str


class Branding(Record, frozen=True, kw_only=True):
    """What is not set is None. `logo` and `style` are addresses."""

    name: str | None = None
    colour: str | None = None
    logo: str | None = None
    style: str | None = None


class Me(Record, frozen=True, kw_only=True):
    """`company` and `flags` are None for users of the organisation: no flag restricts them.

    `filtered` users see a part of the company's accounts.
    """

    user_id: str
    username: str
    company: Company | None
    flags: dict[str, bool] | None
    permissions: list[str]
    language: str
    report_tag_keys: list[str]
    newest_month: str | None
    filtered: bool
    view: View | None
    branding: Branding


class AccountGroup(Record, frozen=True, kw_only=True):
    """A group of accounts, to see what they cost together."""

    group_id: str
    company_id: str
    name: str
    customer_ids: list[str]


class AccountGroupCreate(Record, frozen=True, kw_only=True):
    """Users of the organisation name the company; a customer has only one."""

    name: str
    customer_ids: list[str]
    company_id: str | None = None


class UsageMonth(Record, frozen=True, kw_only=True):
    """A provisional month has no invoice yet: its terms and exchange rate may still change."""

    month: str
    vendor: BilledVendor
    provisional: bool


class UnpricedUsage(Record, frozen=True, kw_only=True):
    """Usage that is not shown, because terms, exchange rate or sums by tag are missing."""

    month: str
    vendor: BilledVendor
    reason: str


class UsageTotal(Record, frozen=True, kw_only=True):
    currency: str
    amount: Decimal


class AccountUsageRow(Record, frozen=True, kw_only=True):
    month: str
    vendor: BilledVendor
    customer_id: str
    customer_name: str
    service: str
    marketplace: bool
    currency: str
    amount: Decimal


class AccountUsage(Record, frozen=True, kw_only=True):
    rows: list[AccountUsageRow]
    totals: list[UsageTotal]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class TagUsageRow(Record, frozen=True, kw_only=True):
    """`tag_value` is None for usage without the tag."""

    month: str
    vendor: BilledVendor
    tag_value: str | None
    service: str
    marketplace: bool
    currency: str
    amount: Decimal


class TagUsage(Record, frozen=True, kw_only=True):
    key: str
    rows: list[TagUsageRow]
    totals: list[UsageTotal]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class MonthTotal(Record, frozen=True, kw_only=True):
    month: str
    currency: str
    amount: Decimal


class MonthToDate(Record, frozen=True, kw_only=True):
    """The complete days of the current month, and the same days of the month before."""

    currency: str
    amount: Decimal
    previous_amount: Decimal


class TopAccount(Record, frozen=True, kw_only=True):
    customer_id: str
    customer_name: str
    currency: str
    amount: Decimal


class TopService(Record, frozen=True, kw_only=True):
    service: str
    marketplace: bool
    currency: str
    amount: Decimal


class CurrencyForecast(Record, frozen=True, kw_only=True):
    """`complete_until` is the last day that is not estimated, of any vendor."""

    currency: str
    month_to_date: Decimal
    forecast: Decimal | None
    error_percent: Decimal | None
    complete_until: str


class Threshold(Record, frozen=True, kw_only=True):
    percent: int
    of: str


class BudgetState(Record, frozen=True, kw_only=True):
    """A budget and its month. Percentages are cut off after one decimal."""

    budget_id: str
    name: str
    target: str
    target_id: str | None
    amount: Decimal
    currency: str
    thresholds: list[Threshold]
    actual: Decimal
    percent: Decimal
    forecast: Decimal | None
    forecast_percent: Decimal | None


class Dashboard(Record, frozen=True, kw_only=True):
    """`anomalies` and `budgets` are None for callers who may not see these pages."""

    company_id: str
    totals: list[MonthTotal]
    month_to_date: list[MonthToDate]
    top_month: str
    top_accounts: list[TopAccount]
    top_services: list[TopService]
    forecasts: list[CurrencyForecast]
    anomalies: int | None
    budgets: list[BudgetState] | None
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class CustomerPayment(Record, frozen=True, kw_only=True):
    """What is left to pay; `state` is open, partly_paid, paid or overpaid."""

    state: str
    open_balance: Decimal
    overdue: bool


class CustomerReplacedInvoice(Record, frozen=True, kw_only=True):
    """`state` is replaced; the invoice with the number `replacement_no` is owed instead."""

    invoice_no: str
    state: str
    replacement_no: str
    replaced_time: str


class CustomerInvoiceHead(Record, frozen=True, kw_only=True):
    """`payment` is null unless the invoice was sent and the organisation shows payments.

    `state` is created, sent, credited or cancelled.
    """

    company_id: str
    month: str
    vendor: BilledVendor
    invoice_no: str
    issue_date: str
    due_date: str | None
    currency: str
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    payment: CustomerPayment | None
    cancelled: bool
    state: str
    replaced: list[CustomerReplacedInvoice]


class PrintedParty(Record, frozen=True, kw_only=True):
    company: str
    contact: str | None
    postal: str | None
    address: str | None
    phone: str | None


class PrintedIssuer(PrintedParty, frozen=True, kw_only=True):
    registration_number: str | None
    bank_account: str | None
    notes: str | None


class PrintedLine(Record, frozen=True, kw_only=True):
    """`charge` is the printed amount before the discount, `amount` the one after it."""

    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    charge: Decimal
    amount: Decimal


class PrintedFee(Record, frozen=True, kw_only=True):
    charge: Decimal
    amount: Decimal


class PrintedEntry(Record, frozen=True, kw_only=True):
    customer_id: str
    customer_name: str
    calc_type: str
    description: str
    amount: Decimal
    tax_free: bool


class PrintedItem(Record, frozen=True, kw_only=True):
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class CustomerInvoice(CustomerInvoiceHead, frozen=True, kw_only=True):
    """An invoice as it is printed. `exchange_rate` is None if nothing was converted."""

    revision: int
    vendor_name: str
    title: str | None
    remarks: str | None
    issuer: PrintedIssuer | None
    addressee: PrintedParty
    exchange_rate: Decimal | None
    provisional: bool
    lines: list[PrintedLine]
    support: PrintedFee | None
    agency: PrintedFee | None
    entries: list[PrintedEntry]
    items: list[PrintedItem]
    tax_free: Decimal
    taxable: Decimal
    tax_rate: Decimal
