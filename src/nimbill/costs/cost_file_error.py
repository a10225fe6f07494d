"""What is wrong with a delivered file, told so that its sender can find the place."""

SHOWN_MAX = 80


class CostFileError(Exception):
    """A delivery is refused: which file, where in it, which rule, and a sentence on it.

    `line` counts from 1, the header being 1; `column` is the name in the file's own header. Neither
    is told where the whole file is at fault. It passes from process to process unchanged.
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
        self.file = shown(file, 200)
        self.rule = rule
        self.detail = detail
        self.line = line
        self.column = None if column is None else shown(column)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.file, self.rule, self.detail, self.line, self.column)

    def __str__(self) -> str:
        place = [self.file]
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.column is not None:
            place.append(f"column {self.column}")
        return f"{', '.join(place)}: {self.detail} ({self.rule})"


def shown(written: str, most: int = SHOWN_MAX) -> str:
    """A file's own words, fit to stand in a message: short, on one line, nothing unprintable."""
    cut = written if len(written) <= most else written[: most - 1] + "…"
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in cut
    )


def _again(
    file: str, rule: str, detail: str, line: int | None, column: str | None
) -> CostFileError:
    return CostFileError(file, rule, detail, line=line, column=column)
