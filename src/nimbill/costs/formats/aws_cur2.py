"""AWS Cost and Usage Report 2.0: fixed columns, all tags in one map column."""

from dataclasses import replace

from nimbill.costs.formats.aws_cur import AWS_CUR, COLUMNS
from nimbill.costs.formats.format import optional

AWS_CUR2 = replace(
    AWS_CUR,
    name="aws_cur2",
    title="AWS Cost and Usage Report 2.0",
    identifying_columns=("line_item_line_item_type", "line_item_unblended_cost", "resource_tags"),
    columns=COLUMNS | {"tags": optional("resource_tags"), "product": optional("product")},
    tag_prefix=None,
)
