"""Links of the form [[Name]] in a text: given another name, with code left alone."""

from __future__ import annotations

import re
from typing import Final

from core.text.exact import exact_form
from core.text.inline_code import code_spans
from core.text.normalise import code_lines

_LINK: Final = re.compile(r"\[\[([^\[\]|#\n]{1,400}?)((?:#[^\[\]|\n]{0,400})?(?:\\?\|[^\[\]\n]{0,400})?\]\])")


def is_slug(name: str) -> bool:
    """Whether a name is one for programs: small letters, digits, hyphens."""
    return re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name) is not None


def with_renamed_links(text: str, former: str, name: str) -> str:
    """The text in which what linked to one name links to another; in another case too."""
    if "[[" not in text or any(char in name for char in "[]|#\n"):
        return text
    lines = text.split("\n")
    wanted = exact_form(former)

    def renamed(found: re.Match[str]) -> str:
        return f"[[{name}{found[2]}" if exact_form(found[1]) == wanted else found[0]

    for at, (line, code) in enumerate(zip(lines, code_lines(lines), strict=True)):
        if not code and "[[" in line:
            pieces, last = [], 0
            for begins, ends in code_spans(line):
                pieces += [_LINK.sub(renamed, line[last:begins]), line[begins:ends]]
                last = ends
            lines[at] = "".join([*pieces, _LINK.sub(renamed, line[last:])])
    return "\n".join(lines)
