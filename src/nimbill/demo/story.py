"""Who the demo is about: two resellers in Japan and the companies they bill. All are invented."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

Setting = Mapping[str, str | Decimal]

# What most customers agree to; others are told by how they differ.
USUAL_TERMS: Setting = MappingProxyType(
    {
        "calc_type": "account",
        "currency": "jpy",
        "discount_calc_logic": "usageamount",
        "discount_rate": Decimal("0.05"),
        "discount_target_usage": "cloudpaywithfee",
        "substitution_fee": "percent",
        "substitution_fee_calc_target": "discounted",
        "substitution_fee_calc_type": "allsum",
        "substitution_fee_target_usage": "cloudpaywithfee",
        "substitution_fix": Decimal(0),
        "substitution_rate": Decimal("0.03"),
        "support_amount_target": "allusage",
        "support_fee": "aws_business",
        "support_fee_calc_target": "nondiscount",
        "support_fix": Decimal(0),
        "support_rate": Decimal(0),
        "tax_rate": Decimal("0.10"),
    }
)


def terms(**changes: str) -> Setting:
    """The usual terms with some of them changed; rates and fixed amounts are written as text."""
    numbers = {name for name in changes if name.endswith(("_rate", "_fix"))}
    changed = {
        name: Decimal(value) if name in numbers else value for name, value in changes.items()
    }
    return MappingProxyType({**USUAL_TERMS, **changed})


AZURE = terms(discount_rate="0.02", support_fee="percent", support_rate="0.08")
DEVELOPER = terms(discount_rate="0.03", support_fee="aws_developer")
ENTERPRISE = terms(discount_rate="0.12", support_fee="aws_enterprise", substitution_rate="0.02")
FIXED_FEES = terms(
    substitution_fee="fix",
    substitution_fix="30000",
    substitution_rate="0",
    support_fee="fix",
    support_fix="50000",
)
FEE_AT_LEAST = terms(
    substitution_fee="automatic", substitution_fix="10000", substitution_rate="0.05"
)
BY_TAG = terms(calc_type="tag", discount_rate="0.08", substitution_fee_calc_target="nondiscount")
BY_ACCOUNT = terms(substitution_fee_calc_type="account", discount_target_usage="cloudpayonly")
IN_DOLLARS = terms(currency="usd", discount_rate="0.075", tax_rate="0")


@dataclass(frozen=True, slots=True)
class Customer:
    """A billing group; `name` is how its reseller calls it."""

    billinggroup_id: str
    name: str
    company_name: str
    postal: str
    address: str
    phone: str
    personal: str
    invoices: Mapping[str, Setting]
    inv_aggregate: bool = True
    language: str = "ja"
    remarks: str | None = None


@dataclass(frozen=True, slots=True)
class Reseller:
    name: str
    english_name: str
    username: str
    customers: tuple[Customer, ...] = field(repr=False)


AOZORA = Reseller(
    name="あおぞらクラウドパートナーズ",
    english_name="Aozora Cloud Partners",
    username="aozora",
    customers=(
        Customer(
            "BG-0001", "ひなた水産", "株式会社ひなた水産",
            "810-0072", "福岡県福岡市中央区長浜3-98-1", "092-000-0101", "経理部 波多野 様",
            {"aws": USUAL_TERMS},
        ),
        Customer(
            "BG-0002", "みどりヶ丘製薬", "みどりヶ丘製薬株式会社",
            "541-0045", "大阪府大阪市中央区道修町9-98-2", "06-0000-0102", "情報システム部 御中",
            {"aws": ENTERPRISE, "azure": AZURE},
            remarks="請求書は事業部別に発行。",
            inv_aggregate=False,
        ),
        Customer(
            "BG-0003", "あかつきトラベル", "株式会社あかつきトラベル",
            "100-0005", "東京都千代田区丸の内9-98-3", "03-0000-0103", "購買課 森下 様",
            {"aws": BY_TAG},
            remarks="タグ「project」ごとに集計。",
        ),
        Customer(
            "BG-0004", "しろくま物流", "株式会社しろくま物流",
            "060-0042", "北海道札幌市中央区大通西98-4", "011-000-0104", "総務部 白石 様",
            {"aws": USUAL_TERMS, "azure": AZURE},
        ),
        Customer(
            "BG-0005", "つきのわ電機", "株式会社つきのわ電機",
            "460-0008", "愛知県名古屋市中区栄9-98-5", "052-000-0105", "DX推進室 御中",
            {"aws": ENTERPRISE},
        ),
        Customer(
            "BG-0006", "ことのは印刷", "ことのは印刷株式会社",
            "604-8005", "京都府京都市中京区恵比須町998-6", "075-000-0106", "管理部 西陣 様",
            {"aws": DEVELOPER},
        ),
        Customer(
            "BG-0007", "うみねこ海運", "うみねこ海運株式会社",
            "231-0002", "神奈川県横浜市中区海岸通9-98-7", "045-000-0107", "財務部 浦賀 様",
            {"aws": FIXED_FEES, "azure": AZURE},
        ),
        Customer(
            "BG-0008", "あさぎり学園", "学校法人あさぎり学園",
            "950-2044", "新潟県新潟市西区坂井砂山9-98-8", "025-000-0108", "法人事務局 御中",
            {"azure": AZURE},
        ),
        Customer(
            "BG-0009", "なぎさ会", "医療法人社団なぎさ会",
            "251-0035", "神奈川県藤沢市片瀬海岸9-98-9", "0466-00-0109", "事務長 江島 様",
            {"azure": terms(discount_rate="0", support_fee="percent", support_rate="0.10")},
        ),
        Customer(
            "BG-0010", "いろはゲームス", "合同会社いろはゲームス",
            "150-0042", "東京都渋谷区宇田川町98-10", "03-0000-0110", "バックオフィス 御中",
            {"aws": FEE_AT_LEAST},
            remarks="リリース月は利用額が大きく変動。",
        ),
        Customer(
            "BG-0011", "はやぶさモビリティ", "株式会社はやぶさモビリティ",
            "980-0021", "宮城県仙台市青葉区中央9-98-11", "022-000-0111", "経営企画部 伊達 様",
            {"aws": BY_ACCOUNT},
        ),
        Customer(
            "BG-0012", "Kaede Robotics", "Kaede Robotics K.K.",
            "305-0031", "9-98-12 Azuma, Tsukuba, Ibaraki", "029-000-0112", "Accounts Payable",
            {"aws": IN_DOLLARS},
            language="en",
        ),
    ),
)  # fmt: skip

# A neighbour that uses the same ids: the two never meet.
MINATO = Reseller(
    name="みなとまちシステムズ",
    english_name="Minatomachi Systems",
    username="minato",
    customers=(
        Customer(
            "BG-0001", "たんぽぽ食品", "有限会社たんぽぽ食品",
            "650-0022", "兵庫県神戸市中央区元町通9-98-13", "078-000-0201", "経理 三宮 様",
            {"aws": DEVELOPER},
        ),
        Customer(
            "BG-0002", "ふるさと観光機構", "一般社団法人ふるさと観光機構",
            "690-0887", "島根県松江市殿町998-14", "0852-00-0202", "企画課 御中",
            {"aws": USUAL_TERMS},
        ),
    ),
)  # fmt: skip

RESELLERS = (AOZORA, MINATO)
