"""The two resellers of the demo and the companies they bill. All are fictitious."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nimbill.demo.contract_terms import DEVELOPER, USUAL_TERMS
from nimbill.demo.customers import CUSTOMERS, Contract, DemoCustomer
from nimbill.foundation.vendors import BilledVendor


@dataclass(frozen=True, slots=True)
class DemoReseller:
    name: str
    english_name: str
    username: str
    rounding: str
    colour: str  # of the portal; white text is readable on it
    payers: Mapping[str, str]  # payer account by vendor
    customers: tuple[DemoCustomer, ...] = field(repr=False)

    def list_customers(self, vendor: BilledVendor) -> Iterator[DemoCustomer]:
        return (customer for customer in self.customers if vendor in customer.contracts)


AOZORA = DemoReseller(
    name="あおぞらクラウドパートナーズ",
    english_name="Aozora Cloud Partners",
    username="aozora",
    rounding="half_up",
    colour="#1a5fb4",
    payers={"aws": "200000000009", "azure": "8611537"},
    customers=CUSTOMERS,
)

# Uses the same billing group ids as AOZORA, which shows that tenants are separate.
MINATO = DemoReseller(
    name="みなとまちシステムズ",
    english_name="Minatomachi Systems",
    username="minato",
    rounding="down",
    colour="#26714a",
    payers={"aws": "300000000007"},
    customers=(
        DemoCustomer(
            "BG-0001", "たんぽぽ食品", "有限会社たんぽぽ食品",
            "650-0022", "兵庫県神戸市中央区元町通9-98-13", "078-000-0201", "経理 三宮",
            {"aws": Contract(DEVELOPER, 1, 720)},
        ),
        DemoCustomer(
            "BG-0002", "ふるさと観光機構", "一般社団法人ふるさと観光機構",
            "690-0887", "島根県松江市殿町998-14", "0852-00-0202", "企画課 宍道",
            {"aws": Contract(USUAL_TERMS, 2, 2_900)},
        ),
    ),
)  # fmt: skip

RESELLERS = (AOZORA, MINATO)
