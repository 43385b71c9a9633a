"""Promotion: often recalled notes become bullets of MEMORY.md, everything a person wrote stays byte for byte."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import msgspec

from core.errors import BrokenFileError
from core.model.change import PERSON, Author
from core.model.draft import Draft
from core.model.names import select_ids
from core.model.progress import Progress, watched
from core.model.promoted import Target, WrittenText
from core.promotion.choose import (
    EVERY_NOTE,
    Admission,
    below,
    held_back,
    managed_sections,
    section_order,
)
from core.promotion.matching import Matching, Proposal
from core.promotion.refusal import all_marks, remember_refusals
from core.promotion.result import Length, PromotionEntry, PromotionResult, unified_diff
from core.settings import PromotionSettings
from core.text.memory_page import Bullet, Heading, MarkdownPage, heading_line, split_lines

_BYTE_ORDER_MARK: Final = "\ufeff"
_ROUNDS: Final = 4
_OTHER_ENCODINGS: Final = (b"\xff\xfe", b"\xfe\xff")


def promote(
    draft: Draft,
    existing: bytes | None,
    path: str,
    settings: PromotionSettings | None = None,
    *,
    target: Target | None = None,
    accept: Collection[str] | None = None,
    refuse: Collection[str] = (),
    author: Author = PERSON,
    admission: Admission = EVERY_NOTE,
    progress: Progress | None = None,
) -> PromotionResult:
    """What MEMORY.md becomes when the notes that are recalled often enough are written into it.

    existing: the bytes of the file at `path`, None when there is none. target: what is remembered of it: a bullet that
    says what we last wrote is ours. Everything else stays byte for byte. A bullet of ours goes when its note was
    deleted, hidden, made temporary, turned out to hold a secret, or belongs to another project (`admission`).

    accept: carry out only the entries with these ids (or unambiguous beginnings of ids), also some that were refused
    before or that a person edited. None: all but those. refuse: do not propose these again until their texts change,
    and, unless `accept` says otherwise, carry out none. Promoting twice changes nothing more; the change set holds at
    most one file, and the notes that bear refusals. progress: told how many of the notes that may stand there are
    looked at. Raises BrokenFileError for a file that is no UTF-8 text.
    """
    settings = settings or PromotionSettings()
    target = target or Target(path=path)
    text = _decoded(existing, path)
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    lines = split_lines(text[len(mark) :])
    notes = list(draft.notes())
    managed = managed_sections(notes)

    def proposed(page: Sequence[str], known: Target) -> list[Proposal]:
        return Matching(MarkdownPage([*page]), notes, known, settings, admission, progress).proposals()

    choice = _Selection(proposed(lines, target), all_marks(notes, target.refused), accept, refuse)
    written = _written(lines, choice.done, settings, managed.__contains__)
    standing = choice.standing
    marks = all_marks(notes, (*target.refused, *(mark for _, mark in choice.refused_now)))
    for _ in range(_ROUNDS if choice.done else 0):
        # What was code because a block above stayed open may be a bullet again, now that a list stands before it.
        known = msgspec.structs.replace(target, at=target.at or "now", texts=_texts(target, standing))
        more = _Selection(proposed(written, known), marks, accept, ())
        if not more.done:
            break
        written = _written(written, more.done, settings, managed.__contains__)
        choice.entries += [one.entry.carried_out for one in more.done]
        standing = [*standing, *more.done]
    after = mark + "".join(written)
    if after != text:
        draft.put_file(path, existing, after.encode("utf-8", "surrogateescape"))
    rest = remember_refusals(draft, target.refused, choice.refused_now, choice.accepted_marks)
    entries = _placed(choice.entries, MarkdownPage(written))
    fitting = [note for note in watched(notes, progress) if not admission.owner(note)]
    return PromotionResult(
        path, entries, unified_diff(text, after, path),
        draft.change_set(_reason(entries, len(choice.refused_now)), author=author, kind="promotion"),
        Length(len(lines), len(written), settings.read_lines),
        msgspec.structs.replace(target, texts=_texts(target, standing, written), refused=rest),
        refused=tuple(choice.refused), unknown=choice.unknown,
        below=below(fitting, settings, {entry.note_id for entry in entries}),
        held_back=held_back(fitting, settings),
    )  # fmt: skip


def _decoded(existing: bytes | None, path: str) -> str:
    if existing and (existing.startswith(_OTHER_ENCODINGS) or b"\0" in existing):
        raise BrokenFileError(
            "not UTF-8 text", field="folder", where=path, kept="the file is unchanged",
            todo="save it as UTF-8 or choose another folder",
        )  # fmt: skip
    return (existing or b"").decode("utf-8", "surrogateescape")


def _texts(
    target: Target, standing: Iterable[Proposal], page: Sequence[str] | None = None
) -> tuple[WrittenText, ...]:
    """What is remembered: the last text of each note, but of a page only where a bullet bears its title."""
    texts = {text.note_id: text for text in target.texts}
    for one in standing:
        if one.wrote is not None:
            texts[one.entry.note_id] = one.wrote
        else:
            texts.pop(one.entry.note_id, None)
    if page is None:
        return tuple(texts.values())
    there = {found.title for found in MarkdownPage([*page]).bullets}
    return tuple(text for text in texts.values() if text.title in there)


def _reason(entries: Iterable[PromotionEntry], refused: int) -> str:
    said = (("new", "added"), ("updated", "updated"), ("removed", "removed"))
    statuses = [entry.status for entry in entries]
    counts = [f"{word} {statuses.count(status)}" for status, word in said if status in statuses]
    counts += [f"refused {refused}"] if refused else []
    return "promotion: " + (", ".join(counts) or "nothing to do")


class _Selection:
    """Which proposals are carried out, and which are refused.

    done: the proposals to carry out. standing: these and the entries that stay. refused_now: notes with the marks that
    are to be remembered.
    """

    def __init__(
        self,
        proposals: Sequence[Proposal],
        marks: frozenset[str],
        accept: Collection[str] | None,
        refuse: Collection[str],
    ) -> None:
        proposed = [one for one in proposals if one.entry.proposed]
        ids = [one.entry.id for one in proposed]
        before = {one.entry.id for one in proposed if not marks.isdisjoint(one.marks)}
        wanted, unknown = select_ids(ids, accept or ())
        unwanted, unknown_too = select_ids(ids, refuse)
        self.unknown = unknown + unknown_too
        if accept is None and not refuse:
            wanted = {one.entry.id for one in proposed if one.entry.status != "edited"} - before
        now = [one for one in proposed if one.entry.id in unwanted - wanted - before]
        self.done = [one for one in proposed if one.entry.id in wanted]
        self.standing = [one for one in proposals if not one.entry.proposed or one.entry.id in wanted]
        self.refused_now = [(one.entry.note_id, one.marks[0]) for one in now]
        self.refused = [one.entry for one in proposed if one in now or one.entry.id in before - wanted]
        self.accepted_marks = {mark for one in self.done if one.entry.id in before for mark in one.marks}
        left = before | wanted | {one.entry.id for one in now}
        kept = [one.entry for one in proposed if one.entry.status == "edited" and one.entry.id not in left]
        self.entries = [*(one.entry.carried_out for one in self.standing), *kept]


def _placed(entries: Iterable[PromotionEntry], page: MarkdownPage) -> tuple[PromotionEntry, ...]:
    """The entries in the order of their sections, each with the line on which it stands."""
    bullets: dict[str, list[Bullet]] = defaultdict(list)
    for found in page.bullets:
        bullets[found.title].append(found)

    def placed(entry: PromotionEntry) -> PromotionEntry:
        wanted = (entry.before if entry.status == "edited" else entry.text).split("\n")
        for found in bullets[entry.title] if wanted != [""] else ():
            there = page.bare[found.line : found.line + len(wanted)]
            if [line.rstrip() for line in there] == wanted:
                bullets[entry.title].remove(found)
                return msgspec.structs.replace(entry, line=found.line + 1)
        return entry

    return tuple(map(placed, sorted(entries, key=lambda entry: section_order(entry.section))))


# The page: only our own bullets are replaced, removed and added; every other byte stays


def _written(
    lines: list[str], done: Iterable[Proposal], settings: PromotionSettings, managed: Callable[[str], bool]
) -> list[str]:
    """The lines of the page with everything in place."""
    fresh: dict[str, list[str]] = defaultdict(list)
    edits: list[tuple[Bullet, tuple[str, ...]]] = []
    for one in done:
        if one.there is not None:
            edits.append((one.there, () if one.moves else one.lines))
        if one.there is None or one.moves:
            fresh[one.entry.section].extend(one.lines)
    written = _replaced(lines, edits)
    if fresh and not "".join(written).strip():
        began = f"Auto-promoted from nugget graph notes ({settings.threshold}+ recalls across sessions)."
        written.extend(f"{line}{_line_end(written)}" for line in ("# Memory", "", began))
    for section in sorted(fresh, key=section_order):
        written = _with_bullets(written, section, fresh[section], managed)
    return written


def _line_end(lines: Sequence[str]) -> str:
    """The line end that a page uses: that of its first line, LF when it has none."""
    first = lines[0] if lines else ""
    return first[len(first.rstrip("\r\n")) :] or "\n"


def _replaced(lines: list[str], edits: Sequence[tuple[Bullet, tuple[str, ...]]]) -> list[str]:
    """The lines with other lines in place of bullets; no new lines take a bullet out."""
    result = list(lines)
    ending = _line_end(lines)
    for there, new in sorted(edits, key=lambda edit: edit[0].line, reverse=True):
        last = lines[there.end - 1]
        closing = last[len(last.rstrip("\r\n")) :]
        ends = [*([ending] * (len(new) - 1)), closing][: len(new)]
        result[there.line : there.end] = [line + end for line, end in zip(new, ends, strict=True)]
    return result


def _with_bullets(
    lines: list[str], section: str, bullets: list[str], managed: Callable[[str], bool]
) -> list[str]:
    """The lines with bullets added to a section, which is made where its order puts it when it is missing."""
    page = MarkdownPage(lines)
    heading = page.section(section)
    if heading is None:
        place = _place_of_new_section(page, section, managed)
        return _inserted(page, place, [heading_line(section), "", *bullets], apart=True)
    end = page.end_of(heading, deepest=6)
    own = [bullet.line for bullet in page.bullets if heading.below <= bullet.line < end]
    if own:
        return _inserted(page, _below_list(page, max(own)), bullets, apart=False)
    while end > heading.below and page.blank(end - 1):
        end -= 1
    return _inserted(page, end, bullets, apart=True)


def _below_list(page: MarkdownPage, line: int) -> int:
    """The first place below a bullet that is no part of its list: what hangs on the bullet stays with it."""
    starts = {heading.start for heading in page.headings}
    place = line + 1
    while place < len(page.lines) and place not in starts:
        if page.blank(place) and not page.opaque[place]:
            below = next((i for i in range(place, len(page.lines)) if not page.blank(i)), len(page.lines))
            if below == len(page.lines) or not page.bare[below].startswith(("  ", "\t")):
                break
            place = below
            continue
        place += 1
    return min(place, page.open_from)


def _place_of_new_section(page: MarkdownPage, section: str, managed: Callable[[str], bool]) -> int:
    known: list[Heading] = [h for h in page.headings if h.level == 2 and managed(h.name)]
    later = next((h for h in known if section_order(h.name) > section_order(section)), None)
    if later is not None:
        place = later.start
        while place in page.comments:  # A comment right above a heading speaks of it.
            place = page.comments[place]
        return place
    return min(page.end_of(known[-1]) if known else len(page.lines), page.open_from)


def _inserted(page: MarkdownPage, place: int, new: list[str], *, apart: bool) -> list[str]:
    """The page's lines with new ones at a place; `apart` puts blank lines around them where there are none."""
    ending = _line_end(page.lines)
    before, after = list(page.lines[:place]), page.lines[place:]
    if before and before[-1] == before[-1].rstrip("\r\n"):
        before[-1] += ending
    made = [line + ending for line in new]
    if apart and before and not page.blank(place - 1):
        made.insert(0, ending)
    if apart and after and not page.blank(place):
        made.append(ending)
    return [*before, *made, *after]
