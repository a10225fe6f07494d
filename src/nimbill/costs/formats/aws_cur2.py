"""AWS Cost and Usage Report 2.0: a fixed set of columns, tags in one column that is a map."""

from dataclasses import replace

from nimbill.costs.formats.aws_cur import AWS_CUR, COLUMNS
from nimbill.costs.formats.format import may

AWS_CUR2 = replace(
    AWS_CUR,
    name="aws_cur2",
    known_by=("line_item_line_item_type", "line_item_unblended_cost", "resource_tags"),
    columns=COLUMNS | {"tags": may("resource_tags"), "product": may("product")},
    tag_prefix=None,
)
