"""The products of a synthetic month and the tags of its resources."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CloudProduct:
    code: str
    usage_type: str
    region: str
    unit: str
    description: str
    category: str  # the FOCUS service category
    instance_type: str | None = None

    @property
    def name(self) -> str:
        return PRODUCT_NAMES[self.code]


# fmt: off
PRODUCT_NAMES = {
    "AmazonEC2":        "Amazon Elastic Compute Cloud",
    "AmazonS3":         "Amazon Simple Storage Service",
    "AmazonRDS":        "Amazon Relational Database Service",
    "AWSLambda":        "AWS Lambda",
    "AmazonCloudWatch": "AmazonCloudWatch",
    "AmazonDynamoDB":   "Amazon DynamoDB",
}
# fmt: on

PRODUCTS = (
    CloudProduct(
        code="AmazonEC2",
        usage_type="BoxUsage:m5.large",
        region="ap-northeast-1",
        unit="Hrs",
        description="$0.124 per On Demand Linux m5.large Instance Hour",
        category="Compute",
        instance_type="m5.large",
    ),
    CloudProduct(
        code="AmazonEC2",
        usage_type="EBS:VolumeUsage.gp3",
        region="ap-northeast-1",
        unit="GB-Mo",
        description="$0.096 per GB-month of gp3 storage, Asia Pacific (Tokyo)",
        category="Storage",
    ),
    CloudProduct(
        code="AmazonEC2",
        usage_type="DataTransfer-Out-Bytes",
        region="us-east-1",
        unit="GB",
        description="$0.09 per GB - first 10 TB / month data transfer out",
        category="Networking",
    ),
    CloudProduct(
        code="AmazonS3",
        usage_type="TimedStorage-ByteHrs",
        region="us-east-1",
        unit="GB-Mo",
        description="$0.023 per GB - first 50 TB / month of storage used",
        category="Storage",
    ),
    CloudProduct(
        code="AmazonRDS",
        usage_type="InstanceUsage:db.r6g.xl",
        region="ap-northeast-1",
        unit="Hrs",
        description='$0.578 per "db.r6g.xlarge" Single-AZ instance hour (or partial hour)',
        category="Databases",
        instance_type="db.r6g.xlarge",
    ),
    CloudProduct(
        code="AWSLambda",
        usage_type="Lambda-GB-Second",
        region="eu-west-1",
        unit="Lambda-GB-Second",
        description="AWS Lambda - Total Compute - EU (Ireland)",
        category="Compute",
    ),
    CloudProduct(
        code="AmazonCloudWatch",
        usage_type="APN1-CW:Requests",
        region="ap-northeast-1",
        unit="Requests",
        description="$0.01 per 1,000 requests - 東京",
        category="Management and Governance",
    ),
    CloudProduct(
        code="AmazonDynamoDB",
        usage_type="ReadCapacityUnit-Hrs",
        region="us-west-2",
        unit="ReadCapacityUnit-Hrs",
        description="$0.00013 per hour for units of read capacity",
        category="Databases",
    ),
)

# Includes characters that CSV must quote, non-Latin text, and values that differ only in case.
TAGS: tuple[dict[str, str], ...] = (
    {},
    {"team": "platform"},
    {"team": "platform", "env": "prod"},
    {"team": "web", "env": "prod", "project": 'shop, "spring"'},
    {"team": "web", "env": "staging"},
    {"project": "請求", "env": "prod"},
    {"team": "Web"},
    {"env": "dev"},
)
TAG_KEYS = ("env", "project", "team")
