"""Tables as aligned text, Markdown and CSV."""

import csv
import io
from collections.abc import Sequence

Cells = Sequence[str]

#: Names come from logs; what would move the cursor or colour the screen is shown as a mark.
_UNPRINTABLE = dict.fromkeys((*range(32), *range(127, 160)), "�")


def _printable(rows: Sequence[Cells]) -> list[list[str]]:
    return [[cell.translate(_UNPRINTABLE) for cell in row] for row in rows]


def text(header: Cells, rows: Sequence[Cells], *, left: int = 1) -> str:
    """Columns aligned with spaces; the first `left` columns to the left, the others, numbers, to the right."""
    header, *rows = _printable([header, *rows])
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(cells: Cells) -> str:
        placed = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(placed).rstrip()

    return "\n".join([line(header), "  ".join("─" * width for width in widths), *map(line, rows)])


def markdown(header: Cells, rows: Sequence[Cells], *, left: int = 1) -> str:
    """A Markdown table."""

    def line(cells: Cells) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    header, *rows = _printable([header, *rows])
    rule = "|" + "|".join("---" if column < left else "---:" for column in range(len(header))) + "|"
    return "\n".join([line(header), rule, *map(line, rows)])


def comma_separated(header: Cells, rows: Sequence[Cells]) -> str:
    """CSV with plain line ends."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")
