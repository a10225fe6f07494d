"""The customers of the first reseller, their terms and monthly spend. All are fictitious."""

from collections.abc import Mapping
from dataclasses import dataclass

from nimbill.demo.contract_terms import (
    AZURE,
    AZURE_FIXED,
    AZURE_IN_DOLLARS,
    AZURE_PUBLIC,
    BY_ACCOUNT,
    BY_TAG,
    DEVELOPER,
    ENTERPRISE,
    FEE_AT_LEAST,
    FEE_BY_TABLE,
    FIXED_FEES,
    IN_DOLLARS,
    NO_DISCOUNT,
    USUAL_TERMS,
    Setting,
)
from nimbill.foundation.vendors import BilledVendor


@dataclass(frozen=True, slots=True)
class Contract:
    """A customer's contract for one vendor: terms, number of accounts and monthly spend."""

    terms: Setting
    accounts: int
    spend: int  # approximate, in whole units of the vendor's currency


@dataclass(frozen=True, slots=True)
class DemoCustomer:
    """A billing group; `name` is the name that the reseller uses."""

    billinggroup_id: str
    name: str
    company_name: str
    postal: str
    address: str
    phone: str
    personal: str
    contracts: Mapping[BilledVendor, Contract]  # by vendor
    inv_aggregate: bool = True
    language: str = "ja"
    remarks: str | None = None

    @property
    def invoices(self) -> Mapping[str, Setting]:
        return {vendor: contract.terms for vendor, contract in self.contracts.items()}


CUSTOMERS = (
    DemoCustomer(
        "BG-0001", "ひなた水産", "株式会社ひなた水産",
        "810-0072", "福岡県福岡市中央区長浜3-98-1", "092-000-0101", "経理部 波多野",
        {"aws": Contract(USUAL_TERMS, 3, 6_200)},
    ),
    DemoCustomer(
        "BG-0002", "みどりヶ丘製薬", "みどりヶ丘製薬株式会社",
        "541-0045", "大阪府大阪市中央区道修町9-98-2", "06-0000-0102", "情報システム部 道修",
        {"aws": Contract(ENTERPRISE, 9, 182_000), "azure": Contract(AZURE, 4, 3_900_000)},
        remarks="請求書はクラウド別に発行。",
        inv_aggregate=False,
    ),
    DemoCustomer(
        "BG-0003", "あかつきトラベル", "株式会社あかつきトラベル",
        "100-0005", "東京都千代田区丸の内9-98-3", "03-0000-0103", "購買課 森下",
        {"aws": Contract(BY_TAG, 4, 21_500)},
        remarks="タグ「team」ごとに集計。",
    ),
    DemoCustomer(
        "BG-0004", "しろくま物流", "株式会社しろくま物流",
        "060-0042", "北海道札幌市中央区大通西98-4", "011-000-0104", "総務部 白石",
        {"aws": Contract(USUAL_TERMS, 4, 14_800), "azure": Contract(AZURE, 2, 640_000)},
    ),
    DemoCustomer(
        "BG-0005", "つきのわ電機", "株式会社つきのわ電機",
        "460-0008", "愛知県名古屋市中区栄9-98-5", "052-000-0105", "DX推進室 鶴舞",
        {"aws": Contract(ENTERPRISE, 10, 236_000)},
    ),
    DemoCustomer(
        "BG-0006", "ことのは印刷", "ことのは印刷株式会社",
        "604-8005", "京都府京都市中京区恵比須町998-6", "075-000-0106", "管理部 西陣",
        {"aws": Contract(DEVELOPER, 2, 1_150)},
    ),
    DemoCustomer(
        "BG-0007", "うみねこ海運", "うみねこ海運株式会社",
        "231-0002", "神奈川県横浜市中区海岸通9-98-7", "045-000-0107", "財務部 浦賀",
        {"aws": Contract(FIXED_FEES, 3, 9_400), "azure": Contract(AZURE, 2, 410_000)},
    ),
    DemoCustomer(
        "BG-0008", "あさぎり学園", "学校法人あさぎり学園",
        "950-2044", "新潟県新潟市西区坂井砂山9-98-8", "025-000-0108", "法人事務局 弥彦",
        {"azure": Contract(AZURE, 3, 720_000)},
    ),
    DemoCustomer(
        "BG-0009", "なぎさ会", "医療法人社団なぎさ会",
        "251-0035", "神奈川県藤沢市片瀬海岸9-98-9", "0466-00-0109", "事務長 江島",
        {"azure": Contract(AZURE_PUBLIC, 2, 350_000)},
    ),
    DemoCustomer(
        "BG-0010", "いろはゲームス", "合同会社いろはゲームス",
        "150-0042", "東京都渋谷区宇田川町98-10", "03-0000-0110", "バックオフィス 宇田川",
        {"aws": Contract(FEE_AT_LEAST, 5, 38_000)},
        remarks="リリース月は利用額が大きく変動。",
    ),
    DemoCustomer(
        "BG-0011", "はやぶさモビリティ", "株式会社はやぶさモビリティ",
        "980-0021", "宮城県仙台市青葉区中央9-98-11", "022-000-0111", "経営企画部 伊達",
        {"aws": Contract(BY_ACCOUNT, 6, 27_300)},
    ),
    DemoCustomer(
        "BG-0012", "Kaede Robotics", "Kaede Robotics K.K.",
        "305-0031", "9-98-12 Azuma, Tsukuba, Ibaraki", "029-000-0112", "Accounts Payable",
        {"aws": Contract(IN_DOLLARS, 4, 18_900)},
        language="en",
    ),
    DemoCustomer(
        "BG-0013", "ことりマート", "株式会社ことりマート",
        "330-0854", "埼玉県さいたま市大宮区桜木町9-98-13", "048-000-0113", "経理部 大宮",
        {"aws": Contract(USUAL_TERMS, 24, 64_000), "azure": Contract(AZURE, 3, 1_150_000)},
    ),
    DemoCustomer(
        "BG-0014", "すずらん共済", "すずらん共済組合",
        "070-0031", "北海道旭川市一条通98-14", "0166-00-0114", "会計課 石狩",
        {"aws": Contract(FEE_BY_TABLE, 4, 12_600), "azure": Contract(AZURE, 2, 530_000)},
    ),
    DemoCustomer(
        "BG-0015", "ほたる電力", "ほたる電力株式会社",
        "910-0006", "福井県福井市中央9-98-15", "0776-00-0115", "系統計画部 敦賀",
        {"aws": Contract(FEE_BY_TABLE, 5, 33_500)},
    ),
    DemoCustomer(
        "BG-0016", "まどか出版", "株式会社まどか出版",
        "101-0051", "東京都千代田区神田神保町9-98-16", "03-0000-0116", "総務課 神保",
        {"aws": Contract(USUAL_TERMS, 2, 2_480)},
    ),
    DemoCustomer(
        "BG-0017", "はるかぜ空港サービス", "はるかぜ空港サービス株式会社",
        "900-0001", "沖縄県那覇市港町9-98-17", "098-000-0117", "情報管理室 金城",
        {"aws": Contract(USUAL_TERMS, 5, 41_000), "azure": Contract(AZURE, 3, 980_000)},
    ),
    DemoCustomer(
        "BG-0018", "みなみ農園", "農事組合法人みなみ農園",
        "880-0805", "宮崎県宮崎市橘通東9-98-18", "0985-00-0118", "代表 日向",
        {"aws": Contract(DEVELOPER, 1, 410)},
    ),
    DemoCustomer(
        "BG-0019", "つばさ計測", "株式会社つばさ計測",
        "390-0811", "長野県松本市中央9-98-19", "0263-00-0119", "購買グループ 諏訪",
        {"azure": Contract(AZURE, 2, 275_000)},
    ),
    DemoCustomer(
        "BG-0020", "しおさいホテルズ", "株式会社しおさいホテルズ",
        "413-0011", "静岡県熱海市田原本町9-98-20", "0557-00-0120", "経理課 網代",
        {"aws": Contract(USUAL_TERMS, 3, 7_700), "azure": Contract(AZURE_FIXED, 1, 300_000)},
    ),
    DemoCustomer(
        "BG-0021", "Harbor Lane", "Harbor Lane Analytics Ltd.",
        "106-0032", "9-98-21 Roppongi, Minato-ku, Tokyo", "03-0000-0121", "Finance Department",
        {"aws": Contract(IN_DOLLARS, 3, 11_200), "azure": Contract(AZURE_IN_DOLLARS, 1, 460_000)},
        language="en",
    ),
    DemoCustomer(
        "BG-0022", "こもれび建設", "こもれび建設株式会社",
        "320-0035", "栃木県宇都宮市伝馬町98-22", "028-000-0122", "管理本部 日光",
        {"azure": Contract(AZURE, 3, 890_000)},
    ),
    DemoCustomer(
        "BG-0023", "ゆきしろ乳業", "ゆきしろ乳業株式会社",
        "080-0012", "北海道帯広市西二条南98-23", "0155-00-0123", "情報課 十勝",
        {"aws": Contract(USUAL_TERMS, 2, 4_300), "azure": Contract(AZURE, 1, 190_000)},
    ),
    DemoCustomer(
        "BG-0024", "ひいらぎ法律事務所", "弁護士法人ひいらぎ法律事務所",
        "730-0011", "広島県広島市中区基町9-98-24", "082-000-0124", "事務局 宮島",
        {"azure": Contract(AZURE_FIXED, 1, 120_000)},
    ),
    DemoCustomer(
        "BG-0025", "さざなみ放送", "株式会社さざなみ放送",
        "520-0044", "滋賀県大津市京町9-98-25", "077-000-0125", "技術局 瀬田",
        {"aws": Contract(BY_TAG, 5, 29_800)},
        remarks="タグ「team」ごとに集計。",
    ),
    DemoCustomer(
        "BG-0026", "あおい自動車部品", "あおい自動車部品株式会社",
        "448-0027", "愛知県刈谷市相生町9-98-26", "0566-00-0126", "生産管理部 知立",
        {"aws": Contract(USUAL_TERMS, 4, 16_900), "azure": Contract(AZURE, 2, 610_000)},
    ),
    DemoCustomer(
        "BG-0027", "たちばな証券情報", "株式会社たちばな証券情報",
        "103-0026", "東京都中央区日本橋兜町98-27", "03-0000-0127", "システム統括部 茅場",
        {"aws": Contract(NO_DISCOUNT, 6, 52_400)},
    ),
    DemoCustomer(
        "BG-0028", "Quiet River Studios", "Quiet River Studios G.K.",
        "658-0032", "9-98-28 Koyocho-naka, Higashinada-ku, Kobe", "078-000-0128", "Bookkeeping",
        {"aws": Contract(USUAL_TERMS, 2, 3_300)},
        language="en",
    ),
    DemoCustomer(
        "BG-0029", "かわせみ水道工業", "有限会社かわせみ水道工業",
        "500-8833", "岐阜県岐阜市神田町9-98-29", "058-000-0129", "事務 長良",
        {"aws": Contract(FIXED_FEES, 1, 880)},
    ),
    DemoCustomer(
        "BG-0030", "あけぼの大学", "学校法人あけぼの大学",
        "770-0831", "徳島県徳島市寺島本町西9-98-30", "088-000-0130", "情報基盤センター 眉山",
        {"azure": Contract(AZURE_PUBLIC, 8, 2_450_000)},
    ),
    DemoCustomer(
        "BG-0031", "りんどう病院", "社会医療法人りんどう病院",
        "860-0803", "熊本県熊本市中央区新市街98-31", "096-000-0131", "医事課 阿蘇",
        {"azure": Contract(AZURE_PUBLIC, 3, 940_000)},
    ),
    DemoCustomer(
        "BG-0032", "もみじ鉄道", "もみじ鉄道株式会社",
        "640-8203", "和歌山県和歌山市東蔵前丁98-32", "073-000-0132", "経営管理部 御坊",
        {"aws": Contract(USUAL_TERMS, 4, 24_700), "azure": Contract(AZURE, 2, 480_000)},
    ),
    DemoCustomer(
        "BG-0033", "ふくろうセキュリティ", "株式会社ふくろうセキュリティ",
        "212-0013", "神奈川県川崎市幸区堀川町98-33", "044-000-0133", "運用部 鹿島田",
        {"aws": Contract(BY_ACCOUNT, 4, 13_900)},
    ),
    DemoCustomer(
        "BG-0034", "たいよう観光バス", "たいよう観光バス株式会社",
        "870-0035", "大分県大分市中央町9-98-34", "097-000-0134", "業務課 臼杵",
        {"aws": Contract(DEVELOPER, 1, 640)},
    ),
    DemoCustomer(
        "BG-0035", "きさらぎ繊維", "きさらぎ繊維株式会社",
        "790-0003", "愛媛県松山市三番町9-98-35", "089-000-0135", "総務部 道後",
        {"azure": Contract(AZURE, 2, 330_000)},
    ),
    DemoCustomer(
        "BG-0036", "Lantern Foods", "Lantern Foods Japan K.K.",
        "220-0012", "9-98-36 Minatomirai, Nishi-ku, Yokohama", "045-000-0136", "Accounts Payable",
        {"aws": Contract(USUAL_TERMS, 2, 5_900), "azure": Contract(AZURE, 2, 370_000)},
        language="en",
    ),
    DemoCustomer(
        "BG-0037", "さくらば市", "さくらば市役所",
        "999-0037", "山形県さくらば市本町98-37", "023-000-0137", "デジタル推進課 月山",
        {"azure": Contract(AZURE_PUBLIC, 6, 1_680_000)},
    ),
    DemoCustomer(
        "BG-0038", "こはく化学", "こはく化学工業株式会社",
        "745-0036", "山口県周南市本町9-98-38", "0834-00-0138", "経理部 徳山",
        {"aws": Contract(USUAL_TERMS, 6, 71_000), "azure": Contract(AZURE, 2, 760_000)},
    ),
    DemoCustomer(
        "BG-0039", "みちくさ書店", "有限会社みちくさ書店",
        "780-0870", "高知県高知市本町9-98-39", "088-000-0139", "店長 桂",
        {"aws": Contract(DEVELOPER, 1, 320)},
    ),
    DemoCustomer(
        "BG-0040", "いずみ保険サービス", "株式会社いずみ保険サービス",
        "590-0076", "大阪府堺市堺区北瓦町98-40", "072-000-0140", "情報企画部 浜寺",
        {"aws": Contract(USUAL_TERMS, 5, 46_500), "azure": Contract(AZURE, 3, 1_020_000)},
    ),
)  # fmt: skip
