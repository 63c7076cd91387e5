"""Prepares the package's docstrings for mkdocstrings: a line "name: description" becomes a list item, and "<name>" is escaped."""

import re

import griffe

ITEM = re.compile(r"(?:(?<=[.:\n]\n)|^  )([a-z_]+(?:, [a-z_]+)*(?: \([^:\n]*\))?): ", re.MULTILINE)  # not in the middle of a sentence


def as_markdown(text: str) -> str:
    text = re.sub(r"(`[^`]*`)|<", lambda match: match[1] or "&lt;", text)
    return ITEM.sub(r"\n- **\1**: ", text)


class Items(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
