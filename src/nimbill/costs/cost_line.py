"""One charge, whatever the vendor: the columns every format is brought to."""

from enum import StrEnum

import pyarrow as pa

from nimbill.foundation.basis import chosen

basis = chosen("cost-lines")

# room for 10^16 of any currency; digits beyond the 22nd are rounded half up
MONEY = pa.decimal128(38, 22)
MOMENT = pa.timestamp("us", tz="UTC")


class LineKind(StrEnum):
    """What a line is to a bill; which of a vendor's words is which stands in the formats."""

    usage = "usage"
    entry = "entry"  # one-off, billed only once somebody applies it
    tax = "tax"  # the vendor's own: kept apart, never resold
    discount = "discount"  # the vendor's, kept by the reseller
    unknown = "unknown"  # a word no table knows: counted and shown


class EntryType(StrEnum):
    """The `calc_type` of a recalculation entry."""

    fee = "Fee"
    credit = "Credit"
    refund = "Refund"
    upfront = "Upfront"


# fmt: off
SCHEMA = pa.schema([
    # where it stood
    pa.field("part",                 pa.int32(),  nullable=False),  # of the delivery, from 0
    pa.field("line",                 pa.int64(),  nullable=False),  # of the part; a CSV header is 1
    # whose it is
    pa.field("payer_id",             pa.string(), nullable=False),
    pa.field("customer_id",          pa.string(), nullable=False),  # the account it is for
    pa.field("customer_name",        pa.string()),
    pa.field("billing_entity",       pa.string(), nullable=False),  # "" where the vendor names none
    # what it is
    pa.field("line_type",            pa.string(), nullable=False),  # the vendor's word
    pa.field("kind",                 pa.string(), nullable=False),  # LineKind
    pa.field("entry_type",           pa.string()),                  # EntryType, of entries alone
    pa.field("service",              pa.string(), nullable=False),
    pa.field("service_name",         pa.string()),
    pa.field("marketplace",          pa.bool_(),  nullable=False),
    pa.field("usage_type",           pa.string()),
    pa.field("description",          pa.string()),
    # what it costs, and when
    pa.field("cost",                 MONEY,       nullable=False),
    pa.field("currency",             pa.string(), nullable=False),  # three capitals
    pa.field("usage_start",          MOMENT,      nullable=False),
    pa.field("usage_end",            MOMENT),
    pa.field("invoice_id",           pa.string()),                  # null while provisional
    # reservations and savings plans
    pa.field("reservation_id",       pa.string()),                  # ARN, or the vendor's id
    pa.field("savings_plan_id",      pa.string()),
    pa.field("effective_cost",       MONEY),                        # of covered usage, amortised
    pa.field("reservation_number",   pa.int64()),                   # instances
    pa.field("reservation_start",    pa.string()),                  # as written
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
    pa.field("normalization_factor", pa.string()),                  # numbers, as written
    pa.field("unblended_rate",       pa.string()),
    pa.field("upfront_value",        pa.string()),
    # keys are case-sensitive
    pa.field("tags",                 pa.map_(pa.string(), pa.string()), nullable=False),
])
# fmt: on

# what is known of a reservation, as written
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
