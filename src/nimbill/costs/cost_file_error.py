"""The error that refuses a delivery and says where in which file the fault is."""

EXCERPT_LENGTH_MAX = 80
FILE_NAME_LENGTH_MAX = 200


class CostFileError(Exception):
    """A delivery violates a rule.

    `line` counts from 1, the header is line 1; `column` is the name in the file's header. Both are
    None if the fault concerns the whole file. The error can be pickled.
    """

    def __init__(
        self,
        file: str,
        rule: str,
        detail: str,
        *,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(file, rule, detail, line, column)
        self.file = printable_excerpt(file, FILE_NAME_LENGTH_MAX)
        self.rule = rule
        self.detail = detail
        self.line = line
        self.column = None if column is None else printable_excerpt(column)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_error, (self.file, self.rule, self.detail, self.line, self.column)

    def __str__(self) -> str:
        location = [self.file] if self.file else []
        if self.line is not None:
            location.append(f"line {self.line}")
        if self.column is not None:
            location.append(f"column {self.column}")
        where = f"{', '.join(location)}: " if location else ""
        return f"{where}{self.detail} ({self.rule})"


def printable_excerpt(text: str, length_max: int = EXCERPT_LENGTH_MAX) -> str:
    """Make text from a file safe for a message: short, on one line, only printable characters."""
    excerpt = text if len(text) <= length_max else text[: length_max - 1] + "…"
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in excerpt
    )


def _rebuild_error(
    file: str, rule: str, detail: str, line: int | None, column: str | None
) -> CostFileError:
    return CostFileError(file, rule, detail, line=line, column=column)
