"""Promotion: often recalled notes become bullets of MEMORY.md, everything a person wrote stays byte for byte."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from core.errors import BrokenFileError, ErrorCode
from core.model.change import PERSON, Author
from core.model.draft import Draft
from core.model.note import Note
from core.model.progress import Progress, watched
from core.model.promoted import Target, WrittenText
from core.model.selection import select_ids
from core.promotion.choose import Fits, everything, managed_sections, section_order
from core.promotion.left_out import below, held_back
from core.promotion.matching import EntryProposal, Matching, distinct
from core.promotion.page import Bullet, MarkdownPage, split_lines
from core.promotion.refusal import all_marks, remember_refusals
from core.promotion.result import Length, PromotionEntry, PromotionResult, unified_diff
from core.promotion.write import line_end, replaced, with_bullets
from core.promotion.written import with_texts
from core.settings import PromotionSettings

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
    fits: Fits = everything,
    progress: Progress | None = None,
) -> PromotionResult:
    """What MEMORY.md becomes when the notes that are recalled often enough are written into it.

    existing: the bytes of the file at `path`, None when there is none. target: what is remembered of it: a bullet that
    says what we once wrote is ours. Without that a bullet is ours when it stands in the section of a note and bears
    the note's title. Everything else stays byte for byte. A bullet goes when its note was deleted, hidden, made
    temporary or turned out to hold a secret.

    accept: carry out only the entries with these ids (or unambiguous beginnings of ids), also some that were refused
    before or that a person edited. None: all but those. refuse: do not propose these again until their texts change,
    and, unless `accept` says otherwise, carry out none. Promoting twice changes nothing more; the change set holds at
    most one file, and the notes that bear refusals. progress: told how many of the notes that may stand there are
    looked at. fits: a note of which this is False is not written or named, and what stood there of it before stays.
    Raises BrokenFileError for a file that is no UTF-8 text.
    """
    settings = settings or PromotionSettings()
    target = target or Target(path=path)
    text = _decoded(existing, path)
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    lines = split_lines(text[len(mark) :])
    notes = list(draft.notes())
    work = _Work(notes, target, settings, progress, fits)
    choice = work.choose(lines, all_marks(notes, target.refused), accept, refuse)
    written = work.written(lines, choice.done)
    marks = all_marks(notes, (*target.refused, *(mark for _, mark in choice.refused_now)))
    for _ in range(_ROUNDS if choice.done else 0):
        # What was code because a block above stayed open may be a bullet again, now that a list stands before it.
        more = work.choose(written, marks, accept, ())
        if not more.done:
            break
        written = work.written(written, more.done)
        choice.entries = [*choice.entries, *(_carried_out(one.entry) for one in more.done)]
        choice.standing = [*choice.standing, *more.done]
    after = mark + "".join(written)
    if after != text:
        draft.put_file(path, existing, after.encode("utf-8", "surrogateescape"))
    rest = remember_refusals(draft, target.refused, choice.refused_now, choice.accepted_marks)
    entries = _placed(choice.entries, MarkdownPage(written))
    return PromotionResult(
        path,
        entries,
        unified_diff(text, after, path),
        draft.change_set(_reason(entries, len(choice.refused_now)), author=author, kind="promotion"),
        Length(len(lines), len(written), settings.read_lines),
        msgspec.structs.replace(
            target,
            texts=with_texts(target.texts, choice.remembered),
            refused=rest,
        ),
        refused=tuple(choice.refused),
        unknown=choice.unknown,
        below=below(filter(fits, notes), settings, {entry.note_id for entry in entries}),
        held_back=held_back(filter(fits, watched(notes, progress)), settings),
    )


def _decoded(existing: bytes | None, path: str) -> str:
    if existing and (existing.startswith(_OTHER_ENCODINGS) or b"\0" in existing):
        raise BrokenFileError(
            "not UTF-8 text",
            code=ErrorCode.NOT_UTF8,
            field="folder",
            where=path,
            kept="the file is unchanged",
            todo="save it as UTF-8 or choose another folder",
        )
    return (existing or b"").decode("utf-8", "surrogateescape")


def _header(settings: PromotionSettings) -> list[str]:
    """The first lines of a new file, as the original writes them."""
    return [
        "# Memory",
        "",
        f"Auto-promoted from nugget graph notes ({settings.threshold}+ recalls across sessions).",
    ]


def _reason(entries: Iterable[PromotionEntry], refused: int) -> str:
    said = (("new", "added"), ("updated", "updated"), ("removed", "removed"))
    statuses = [entry.status for entry in entries]
    counts = [f"{word} {statuses.count(status)}" for status, word in said if status in statuses]
    counts += [f"refused {refused}"] if refused else []
    return "promotion: " + (", ".join(counts) or "nothing to do")


class _Work:
    """Notes at work on one page, round by round: each sees what the one before made of the page."""

    def __init__(
        self,
        notes: Sequence[Note],
        target: Target,
        settings: PromotionSettings,
        progress: Progress | None,
        fits: Fits,
    ) -> None:
        self._notes = notes
        self._fits = fits
        self._target = target
        self._settings = settings
        self._progress = progress
        self._managed = managed_sections(notes)

    def choose(
        self, lines: list[str], marks: frozenset[str], accept: Collection[str] | None, refuse: Collection[str]
    ) -> _Selection:
        """What is to be done on a page."""
        page = MarkdownPage(lines)
        found = Matching(
            page, self._notes, self._target, self._settings, self._progress, self._fits
        ).proposals()
        choice = _Selection(list(distinct(found)), marks, accept, refuse)
        texts = with_texts(self._target.texts, choice.remembered)
        self._target = msgspec.structs.replace(self._target, texts=texts)
        return choice

    def written(self, lines: list[str], done: Iterable[EntryProposal]) -> list[str]:
        """The lines of the page with everything in place."""
        fresh: dict[str, list[str]] = defaultdict(list)
        edits: list[tuple[int, int, list[str]]] = []
        for one in done:
            edits.extend(one.edits)
            if one.fresh:
                fresh[one.entry.section].extend(one.fresh)
        written = replaced(lines, edits)
        if fresh and not "".join(written).strip():
            written.extend(f"{line}{line_end(written)}" for line in _header(self._settings))
        for section in sorted(fresh, key=section_order):
            written = with_bullets(written, section, fresh[section], self._managed.__contains__)
        return written


class _Selection:
    """Which proposals are carried out, and which are refused.

    done: the proposals to carry out. standing: these and the entries that stay. refused_now: notes with the marks that
    are to be remembered.
    """

    def __init__(
        self,
        proposals: Sequence[EntryProposal],
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
        accepted = [one for one in self.done if one.entry.id in before]
        self.accepted_marks = {mark for one in accepted for mark in one.marks}
        left = before | {one.entry.id for one in now}
        kept = [
            one.entry
            for one in proposed
            if one.entry.status == "edited" and one.entry.id not in left | wanted
        ]
        self.entries = [*(_carried_out(one.entry) for one in self.standing), *kept]

    @property
    def remembered(self) -> list[WrittenText]:
        """What is to be remembered of what is done and of what stays as it is."""
        return [one.remembered for one in self.standing if one.remembered is not None]


def _carried_out(entry: PromotionEntry) -> PromotionEntry:
    """What a person edited and then gave up is updated or removed like any other."""
    if entry.status != "edited":
        return entry
    return dataclasses.replace(entry, status="updated" if entry.text else "removed")


def _placed(entries: Iterable[PromotionEntry], page: MarkdownPage) -> tuple[PromotionEntry, ...]:
    """The entries in the order of their sections, each with the line on which it stands."""
    bullets: dict[str, list[Bullet]] = defaultdict(list)
    for found in page.bullets:
        bullets[found.title].append(found)

    def placed(entry: PromotionEntry) -> PromotionEntry:
        said = entry.before if entry.status == "edited" else entry.text
        wanted = said.split("\n")
        for found in bullets[entry.title] if said else ():
            there = page.bare[found.line : found.line + len(wanted)]
            if [line.rstrip() for line in there] == wanted:
                bullets[entry.title].remove(found)
                return dataclasses.replace(entry, line=found.line + 1)
        return entry

    return tuple(map(placed, sorted(entries, key=lambda entry: section_order(entry.section))))
