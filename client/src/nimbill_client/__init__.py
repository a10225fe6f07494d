"""A typed client of the Nimbill API."""

from nimbill_client.approvals import Approval, ApprovalRequestBody, ShortApproval
from nimbill_client.archive import ArchivedDocument, ArchiveKey
from nimbill_client.audit import AuditEntry
from nimbill_client.billing_groups import (
    BillingGroupAccount,
    BillingGroupCreate,
    BillingGroupCreated,
    BillingGroupRecord,
    BillingGroupsCreated,
    BillingGroupUpdate,
    CreatedBillingGroup,
    FreeFormatItem,
    InvoiceSetting,
    SupportFeeTarget,
)
from nimbill_client.client import Client
from nimbill_client.clock import Clock
from nimbill_client.cloud_accounts import (
    AccountsCreated,
    CloudAccountCreate,
    CloudAccountRecord,
    CloudAccountUpdate,
    CreatedAccount,
)
from nimbill_client.contacts import Contact, ContactBody, ContactsCreated
from nimbill_client.corrections import (
    CorrectedRate,
    CorrectionPreview,
    DriftDecision,
    DriftOfGroup,
    LateCostSum,
)
from nimbill_client.costs import CostSum, CostTotal, MonthCosts
from nimbill_client.credit_notes import (
    ChangedTerm,
    CreditedAmount,
    CreditedTax,
    CreditNoteDocument,
    ManualCredit,
    NoteCorrection,
    ShortCreditNote,
)
from nimbill_client.deliveries import (
    InvoiceDelivery,
    PreviewedMail,
    QueuedMail,
    Recipient,
    RefusedRecipient,
    SendingPreview,
    SendInvoicesRequest,
    SentInvoices,
    SkippedInvoice,
)
from nimbill_client.errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    LoginFailed,
    NimbillError,
    NotAuthenticated,
    NotFound,
    Problem,
    TooManyRequests,
    Unavailable,
    UnexpectedResponse,
    Violation,
    WaitTimeout,
)
from nimbill_client.imports import (
    ImportProblem,
    ImportRecord,
    ImportStarted,
    ImportTotal,
    ProposedEntry,
)
from nimbill_client.invoice_bodies import (
    AccountTotalList,
    AccountTotalRecord,
    AdjustmentEntry,
    BillingGroupTotal,
    ComparedAmount,
    ComparedTax,
    CreatedInvoice,
    CreateInvoicesResponse,
    InvoiceList,
    InvoiceListAccount,
    InvoiceListItem,
    InvoiceListRecord,
    InvoiceListTotals,
    InvoiceRun,
    InvoiceStatus,
    InvoiceWarning,
    MarkedInvoice,
    MarkedInvoices,
    MonthlyInvoiceSetting,
    ReplacedInvoice,
    RevisionComparison,
    SkippedGroup,
    VendorInvoiceData,
    VendorTotals,
)
from nimbill_client.invoice_document import (
    AccountTotal,
    Addressee,
    AppliedEntry,
    EntryLine,
    Explanation,
    Fee,
    FreeItem,
    InvoiceDocument,
    InvoiceProject,
    InvoiceRevision,
    InvoiceSheet,
    Issuer,
    ItemLine,
    LateCost,
    MonthlyCharges,
    PayerImport,
    Terms,
    TermsDifference,
    TermsPreview,
    UsageCharge,
    UsageLine,
    VendorCharge,
)
from nimbill_client.invoice_templates import (
    InvoiceTemplateBody,
    InvoiceTemplateCreated,
    InvoiceTemplateRecord,
)
from nimbill_client.months import (
    MonthClosed,
    MonthStatus,
    MonthStep,
    OverriddenBlocker,
    StepBlocker,
    TieOut,
    TieOutAccount,
    TieOutDifference,
    TieOutEntryDifference,
    TieOutLateCost,
    TieOutPayer,
)
from nimbill_client.organisation_settings import (
    Band,
    OrganisationSettings,
    OrganisationSettingsChange,
    PortalLogo,
    PortalLogoBody,
)
from nimbill_client.payments import (
    InvoicePayments,
    Payment,
    PaymentRequest,
    PaymentsRecorded,
    Receivable,
    ReceivableTotal,
)
from nimbill_client.portal_bodies import (
    AccountGroup,
    AccountGroupCreate,
    AccountUsage,
    AccountUsageRow,
    BudgetState,
    Company,
    CurrencyForecast,
    CustomerInvoice,
    CustomerInvoiceHead,
    CustomerPayment,
    CustomerReplacedInvoice,
    Dashboard,
    Me,
    MonthToDate,
    MonthTotal,
    PrintedEntry,
    PrintedFee,
    PrintedIssuer,
    PrintedItem,
    PrintedLine,
    PrintedParty,
    TagUsage,
    TagUsageRow,
    Threshold,
    TopAccount,
    TopService,
    UnpricedUsage,
    UsageMonth,
    UsageTotal,
)
from nimbill_client.portal_logins import (
    ResellerChanged,
    ResellerCreate,
    ResellerPassword,
    ResellerRecord,
    ResellerSession,
)
from nimbill_client.projects import (
    ProjectAmount,
    ProjectBody,
    ProjectCreated,
    ProjectFigures,
    ProjectProfit,
    ProjectRecord,
)
from nimbill_client.recalculation import RecalculationRecord
from nimbill_client.record import BilledVendor, Record, Vendor
from nimbill_client.reserved_instances import ReservedInstanceRecord
from nimbill_client.roles import (
    FilteringRule,
    PermissionListing,
    Role,
    RoleMapping,
    RoleReference,
    RolesMapped,
)
from nimbill_client.users import (
    ApiClientRecord,
    ConsoleSession,
    Notification,
    SecondFactor,
    Subuser,
    SubuserCreate,
)
from nimbill_client.version import VERSION

__version__ = VERSION
from nimbill_client.webhooks import (
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointBody,
    WebhookSecret,
    WebhookTest,
)

# fmt: off
__all__ = [
    "VERSION", "AccountGroup", "AccountGroupCreate", "AccountTotal", "AccountTotalList",
    "AccountTotalRecord", "AccountUsage", "AccountUsageRow", "AccountsCreated", "Addressee",
    "AdjustmentEntry", "ApiClientRecord", "ApiError", "AppliedEntry", "Approval",
    "ApprovalRequestBody", "ArchiveKey", "ArchivedDocument", "AuditEntry", "Band", "BilledVendor",
    "BillingGroupAccount", "BillingGroupCreate", "BillingGroupCreated", "BillingGroupRecord",
    "BillingGroupTotal", "BillingGroupUpdate", "BillingGroupsCreated", "BudgetState", "ChangedTerm",
    "Client", "Clock", "CloudAccountCreate", "CloudAccountRecord", "CloudAccountUpdate", "Company",
    "ComparedAmount", "ComparedTax", "Conflict", "ConnectionFailed", "ConsoleSession", "Contact",
    "ContactBody", "ContactsCreated", "CorrectedRate", "CorrectionPreview", "CostSum", "CostTotal",
    "CreateInvoicesResponse", "CreatedAccount", "CreatedBillingGroup", "CreatedInvoice",
    "CreditNoteDocument", "CreditedAmount", "CreditedTax", "CurrencyForecast", "CustomerInvoice",
    "CustomerInvoiceHead", "CustomerPayment", "CustomerReplacedInvoice", "Dashboard",
    "DriftDecision", "DriftOfGroup", "EntryLine", "Explanation", "Fee", "FilteringRule",
    "Forbidden", "FreeFormatItem", "FreeItem", "ImportProblem", "ImportRecord", "ImportStarted",
    "ImportTotal", "InvalidRequest", "InvoiceDelivery", "InvoiceDocument", "InvoiceList",
    "InvoiceListAccount", "InvoiceListItem", "InvoiceListRecord", "InvoiceListTotals",
    "InvoicePayments", "InvoiceProject", "InvoiceRevision", "InvoiceRun", "InvoiceSetting",
    "InvoiceSheet", "InvoiceStatus", "InvoiceTemplateBody", "InvoiceTemplateCreated",
    "InvoiceTemplateRecord", "InvoiceWarning", "Issuer", "ItemLine", "LateCost", "LateCostSum",
    "LoginFailed", "ManualCredit", "MarkedInvoice", "MarkedInvoices", "Me", "MonthClosed",
    "MonthCosts", "MonthStatus", "MonthStep", "MonthToDate", "MonthTotal", "MonthlyCharges",
    "MonthlyInvoiceSetting", "NimbillError", "NotAuthenticated", "NotFound", "NoteCorrection",
    "Notification", "OrganisationSettings", "OrganisationSettingsChange", "OverriddenBlocker",
    "PayerImport", "Payment", "PaymentRequest", "PaymentsRecorded", "PermissionListing",
    "PortalLogo", "PortalLogoBody", "PreviewedMail", "PrintedEntry", "PrintedFee", "PrintedIssuer",
    "PrintedItem", "PrintedLine", "PrintedParty", "Problem", "ProjectAmount", "ProjectBody",
    "ProjectCreated", "ProjectFigures", "ProjectProfit", "ProjectRecord", "ProposedEntry",
    "QueuedMail", "RecalculationRecord", "Receivable", "ReceivableTotal", "Recipient", "Record",
    "RefusedRecipient", "ReplacedInvoice", "ResellerChanged", "ResellerCreate", "ResellerPassword",
    "ResellerRecord", "ResellerSession", "ReservedInstanceRecord", "RevisionComparison", "Role",
    "RoleMapping", "RoleReference", "RolesMapped", "SecondFactor", "SendInvoicesRequest",
    "SendingPreview", "SentInvoices", "ShortApproval", "ShortCreditNote", "SkippedGroup",
    "SkippedInvoice", "StepBlocker", "Subuser", "SubuserCreate", "SupportFeeTarget", "TagUsage",
    "TagUsageRow", "Terms", "TermsDifference", "TermsPreview", "Threshold", "TieOut",
    "TieOutAccount", "TieOutDifference", "TieOutEntryDifference", "TieOutLateCost", "TieOutPayer",
    "TooManyRequests", "TopAccount", "TopService", "Unavailable", "UnexpectedResponse",
    "UnpricedUsage", "UsageCharge", "UsageLine", "UsageMonth", "UsageTotal", "Vendor",
    "VendorCharge", "VendorInvoiceData", "VendorTotals", "Violation", "WaitTimeout",
    "WebhookDelivery", "WebhookEndpoint", "WebhookEndpointBody", "WebhookSecret", "WebhookTest",
    "__version__",
]
# fmt: on
