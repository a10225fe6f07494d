"""The schema of cost lines, to which the lines of all vendor formats are normalised."""

from enum import StrEnum

import pyarrow as pa

# amounts below 10^16; digits beyond the 22nd decimal are rounded half up
MONEY = pa.decimal128(38, 22)
TIMESTAMP = pa.timestamp("us", tz="UTC")


class LineKind(StrEnum):
    """How a line is billed; the formats map the vendors' line types to it."""

    usage = "usage"
    entry = "entry"  # one-off charge, billed only after it is applied
    tax = "tax"  # the vendor's tax: stored, never resold
    discount = "discount"  # the vendor's discount, kept by the reseller
    unknown = "unknown"  # a line type that no format maps: counted and reported


class EntryType(StrEnum):
    """The `calc_type` of a recalculation entry."""

    fee = "Fee"
    credit = "Credit"
    refund = "Refund"
    upfront = "Upfront"


# fmt: off
SCHEMA = pa.schema([
    # location in the delivery
    pa.field("part",                 pa.int32(),  nullable=False),  # number in the delivery, from 0
    pa.field("line",                 pa.int64(),  nullable=False),  # in the part; a header is 1
    # accounts
    pa.field("payer_id",             pa.string(), nullable=False),
    pa.field("customer_id",          pa.string(), nullable=False),  # the account that used it
    pa.field("customer_name",        pa.string()),
    pa.field("billing_entity",       pa.string(), nullable=False),  # "" if the vendor has none
    # type
    pa.field("line_type",            pa.string(), nullable=False),  # the vendor's name for it
    pa.field("kind",                 pa.string(), nullable=False),  # LineKind
    pa.field("entry_type",           pa.string()),                  # EntryType, only for entries
    pa.field("service",              pa.string(), nullable=False),
    pa.field("service_name",         pa.string()),
    pa.field("marketplace",          pa.bool_(),  nullable=False),
    pa.field("usage_type",           pa.string()),
    pa.field("description",          pa.string()),
    # cost and time
    pa.field("cost",                 MONEY,       nullable=False),
    pa.field("currency",             pa.string(), nullable=False),  # three capital letters
    pa.field("usage_start",          TIMESTAMP,   nullable=False),
    pa.field("usage_end",            TIMESTAMP),
    pa.field("invoice_id",           pa.string()),                  # null while provisional
    # reservations and savings plans
    pa.field("reservation_id",       pa.string()),                  # ARN, or the vendor's id
    pa.field("savings_plan_id",      pa.string()),
    pa.field("effective_cost",       MONEY),                        # amortised, of covered usage
    pa.field("reservation_number",   pa.int64()),                   # instances
    pa.field("reservation_start",    pa.string()),                  # as in the file
    pa.field("reservation_end",      pa.string()),
    pa.field("instance_type",        pa.string()),
    pa.field("modification_status",  pa.string()),
    pa.field("offer_class",          pa.string()),
    pa.field("payment_option",       pa.string()),
    pa.field("platform",             pa.string()),
    pa.field("region",               pa.string()),
    pa.field("zone",                 pa.string()),
    pa.field("scope",                pa.string()),
    pa.field("tenancy",              pa.string()),
    pa.field("term_length",          pa.string()),
    pa.field("normalization_factor", pa.string()),                  # numbers as in the file
    pa.field("unblended_rate",       pa.string()),
    pa.field("upfront_value",        pa.string()),
    # prices and other columns of FOCUS, kept for exports: never billed, as in the file
    pa.field("payer_name",           pa.string()),
    pa.field("pricing_category",     pa.string()),                  # the vendor's pricing model
    pa.field("pricing_quantity",     pa.string()),
    pa.field("pricing_unit",         pa.string()),
    pa.field("list_unit_price",      pa.string()),
    pa.field("list_cost",            pa.string()),
    pa.field("contracted_unit_price", pa.string()),
    pa.field("contracted_cost",      pa.string()),
    pa.field("consumed_quantity",    pa.string()),
    pa.field("consumed_unit",        pa.string()),
    pa.field("sku_id",               pa.string()),
    pa.field("sku_price_id",         pa.string()),
    pa.field("service_category",     pa.string()),
    pa.field("service_subcategory",  pa.string()),
    pa.field("charge_frequency",     pa.string()),
    pa.field("commitment_status",    pa.string()),
    # keys are case-sensitive
    pa.field("tags",                 pa.map_(pa.string(), pa.string()), nullable=False),
])
# fmt: on

# attributes of a reservation, as in the file
RESERVATION_TEXTS = (
    "reservation_start",
    "reservation_end",
    "instance_type",
    "modification_status",
    "offer_class",
    "payment_option",
    "platform",
    "region",
    "zone",
    "scope",
    "tenancy",
    "term_length",
    "normalization_factor",
    "unblended_rate",
    "upfront_value",
)

# columns that only exports use; an invalid value is left out there and refuses no import
EXPORTED_TEXTS = (
    "payer_name",
    "pricing_category",
    "pricing_quantity",
    "pricing_unit",
    "list_unit_price",
    "list_cost",
    "contracted_unit_price",
    "contracted_cost",
    "consumed_quantity",
    "consumed_unit",
    "sku_id",
    "sku_price_id",
    "service_category",
    "service_subcategory",
    "charge_frequency",
    "commitment_status",
)

COPIED_TEXTS = (
    "customer_name",
    "usage_type",
    "description",
    "invoice_id",
    "savings_plan_id",
    *RESERVATION_TEXTS,
    *EXPORTED_TEXTS,
)

# A line with one of them belongs to a reservation or to a savings plan.
COMMITMENT_IDS = ("reservation_id", "savings_plan_id")
