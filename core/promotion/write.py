"""Edits only our own bullets of a page: replaces, removes, adds; every other byte stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.promotion.choose import section_order
from core.promotion.page import Heading, MarkdownPage, heading_line


def line_end(lines: Sequence[str]) -> str:
    """The line end that a page uses: that of its first line, LF when it has none."""
    first = lines[0] if lines else ""
    return first[len(first.rstrip("\r\n")) :] or "\n"


def replaced(lines: list[str], edits: Sequence[tuple[int, int, list[str]]]) -> list[str]:
    """The lines with each (start, end, new lines) put in; no new lines take the range out. They do not overlap."""
    result = list(lines)
    ending = line_end(lines)
    for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        last = lines[end - 1]
        closing = last[len(last.rstrip("\r\n")) :]
        ends = [*([ending] * (len(new) - 1)), closing][: len(new)]
        result[start:end] = [line + line_ending for line, line_ending in zip(new, ends, strict=True)]
    return result


def with_bullets(
    lines: list[str], section: str, bullets: list[str], managed: Callable[[str], bool]
) -> list[str]:
    """The lines with bullets added to a section, which is made where its order puts it when it is missing."""
    page = MarkdownPage(lines)
    heading = page.section(section)
    if heading is None:
        place = _place_of_new_section(page, section, managed)
        return _inserted(page, place, [heading_line(section), "", *bullets], apart=True)
    own = _last_bullet(page, heading)
    if own is not None:
        return _inserted(page, _below_list(page, own), bullets, apart=False)
    place = page.end_of(heading, deepest=6)
    while place > heading.below and page.blank(place - 1):
        place -= 1
    return _inserted(page, place, bullets, apart=True)


def _last_bullet(page: MarkdownPage, heading: Heading) -> int | None:
    end = page.end_of(heading, deepest=6)
    inside = [bullet.line for bullet in page.bullets if heading.below <= bullet.line < end]
    return max(inside, default=None)


def _below_list(page: MarkdownPage, line: int) -> int:
    """The first place below a bullet that is no part of its list: what hangs on the bullet stays with it."""
    starts = {heading.start for heading in page.headings}
    place = line + 1
    while place < len(page.lines):
        if page.opaque[place]:
            place += 1
            continue
        if page.blank(place):
            below = next((i for i in range(place, len(page.lines)) if not page.blank(i)), len(page.lines))
            hangs = below < len(page.lines) and page.bare[below].startswith(("  ", "\t"))
            if not hangs:
                break
            place = below
            continue
        if place in starts:
            break
        place += 1
    return min(place, page.open_from)


def _place_of_new_section(page: MarkdownPage, section: str, managed: Callable[[str], bool]) -> int:
    known = [h for h in page.headings if h.level == 2 and managed(h.name)]
    later = next((h for h in known if section_order(h.name) > section_order(section)), None)
    if later is not None:
        place = later.start
        while place in page.comments:  # A comment right above a heading speaks of it.
            place = page.comments[place]
        return place
    return min(page.end_of(known[-1]) if known else len(page.lines), page.open_from)


def _inserted(page: MarkdownPage, place: int, new: list[str], *, apart: bool) -> list[str]:
    """The page's lines with new ones at a place; `apart` puts blank lines around them where there are none."""
    ending = line_end(page.lines)
    before, after = list(page.lines[:place]), page.lines[place:]
    if before and before[-1] == before[-1].rstrip("\r\n"):
        before[-1] += ending
    made = [line + ending for line in new]
    if apart and before and not page.blank(place - 1):
        made.insert(0, ending)
    if apart and after and not page.blank(place):
        made.append(ending)
    return [*before, *made, *after]
