"""Tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; its text is escaped."""
    lines = [_row("th", head)] if head else []
    return "\n".join(["<table>", *lines, *(_row("td", row) for row in rows), "</table>"])


def _row(cell: str, texts: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{cell}>{html.escape(str(text))}</{cell}>' for text in texts)}</tr>"
