"""The conflict screen: what was changed in two ways, its versions side by side, and a result that can be edited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from typing import Any, ClassVar, Final, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from core.errors import ConflictError
from core.model.change import GIT, OURSELVES, PERSON, Author, ChangeSet, FactChange, NoteChange
from core.model.entry import Conflict, Entry
from core.model.fact import Fact
from core.model.note import METADATA_FIELDS, Note
from core.model.snapshot import Snapshot
from core.text.normalise import normalise_content, squeeze
from nuggets_tui.commands import DEFAULT, KeyMap
from nuggets_tui.notices import step, warn
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.typed import TypedDialog, TypedTextStore
from nuggets_tui.session import Session
from nuggets_tui.widgets.fields import Field, TextField
from nuggets_tui.widgets.line_view import LineView, MakeLines, text_difference, wrapped
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural, time_ago

_LONGEST_ABOUT: Final = 600
_DECIDED: Final[dict[Side, str]] = {"ours": "saved", "theirs": "kept"}
_DECIDED_IN_EACH: Final[dict[Side, str]] = {
    "ours": "saved the version that waited in each",
    "theirs": "kept the saved version in each",
}
_YOURS: Final = "yours"
_PROGRAM: Final = "the other program's"
_LONGEST_NAME: Final = 24
_NO_BASE: Final = "Nothing: no text stood here before, or the version before is not known."
_WAITING: Final = "the waiting version"
_SAVED: Final = "the saved version"
_HERE: Final = "this machine's"
_THERE: Final = "the other machine's"


Resolution = tuple[ChangeSet, str]


class ConflictScreen(TypedDialog[Resolution]):
    """Settles a conflict of the log. Answers with what was written, and a sentence that says what was decided.

    Without an answer the conflict goes on waiting.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "take('ours')", "take yours", show=False),
        Binding("t", "take('theirs')", "take theirs", show=False),
        Binding("e", "edit", "edit the result", show=False),
        Binding("a", "all", "resolve all the same way", show=False),
        Binding("ctrl+s", "save", "save", show=False, priority=True),
    ]
    about = (
        "A text that was changed in two ways: as it was before, the version that waits, the one in the files, "
        "and a result you can edit. The history keeps both, whichever you take."
    )

    def __init__(
        self,
        session: Session,
        clash: Clash,
        *,
        typed: Mapping[str, str] | None = None,
        text_store: TypedTextStore | None = None,
        waiting: int = 1,
    ) -> None:
        """waiting: how many conflicts wait in all."""
        super().__init__(classes="full")
        self._waiting = waiting
        # Whether all that wait are settled as this one.
        self.alike = False
        self.typed = typed
        self.text_store = text_store if clash.textual else None
        self.heading = f"Conflict: {clash.title}"
        self._session = session
        self._clash = clash
        # What the result was taken from last. At first it is what whoever looks at nothing would expect.
        self.choice: Side = clash.own

    def compose_inside(self) -> ComposeResult:
        clash = self._clash
        yield Static(self._about(), classes="words", id="about")
        with Container(id="versions"):
            yield _pane("base", "Before", _lines(clash.base, clash.base, "It did not exist."))
            yield _pane("ours", "", _lines(clash.base, clash.ours, "It is deleted."))
            yield _pane("theirs", "", _lines(clash.base, clash.theirs, "It is deleted."))
        if not clash.textual:
            yield Static("", id="choice", classes="words")
        elif clash.field in LINES:
            yield Field("Result", clash.version(clash.own).text, id="result")
        else:
            yield TextField("Result", clash.version(clash.own).text, id="result")

    def on_mount(self) -> None:
        self.query_one("#ours").focus()
        for field in self.query(TextArea):
            field.move_cursor(field.document.end)
        if self.typed and self._clash.textual:
            self._set_result(self.typed.get("result", self._clash.version(self.choice).text))
        self._show_choice()
        self.call_after_refresh(self._show_differences)

    def _show_differences(self) -> None:
        """Both versions begin at what differs first."""
        for pane in self.query(LineView):
            places = (
                place for place, line in enumerate(pane.lines) if _MARKS & {span.style for span in line.spans}
            )
            pane.scroll_to(y=max(next(places, 0) - 1, 0), animate=False)

    def _about(self) -> Content:
        clash, more = self._clash, []
        if clash.also:
            names = ", ".join(clash.also)
            more.append(
                f"Its {names} changed in two ways too: your choice decides that as well. An edited "
                "result takes yours."
            )
        if clash.rest:
            verb = "is" if clash.rest == 1 else "are"
            more.append(f"{plural(clash.rest, 'more change')} of yours {verb} written whichever you take.")
        if clash.textual:
            more.append(f"Underlined: added. {WENT}: something was removed here.")
        return Content.assemble(
            (safe_line(_sentence(clash.what), 200), "bold"),
            (f" {' '.join(more)}"[:_LONGEST_ABOUT], MUTED),
        )

    def _titles(self) -> dict[Side, Content]:
        """What stands over the two versions: whose they are, and how old."""
        now, made = self._session.clock(), self._clash.made
        ours, theirs = (_capital(self.names[side]) for side in ("ours", "theirs"))
        return {
            "ours": _joined(ours, time_ago(self._clash.entry.change_set.at, now)),
            "theirs": _joined(theirs, "" if made is None else time_ago(made.at, now)),
        }

    @property
    def names(self) -> dict[Side, str]:
        """What the two versions are called: by whose they are, where that tells them apart."""
        made = self._clash.made
        if self._clash.came_in:
            return {"ours": _THERE, "theirs": _HERE}
        ours = _owned(self._clash.entry.change_set.author, _WAITING)
        theirs = _SAVED if made is None else _owned(made.author, _SAVED)
        return {"ours": _WAITING, "theirs": _SAVED} if ours == theirs else {"ours": ours, "theirs": theirs}

    # The result

    @property
    def result(self) -> str | None:
        """The text that stands in the result; None where there is no text to write."""
        if not self._clash.textual:
            return None
        field = self.query_one("#result")
        return (
            field.text if isinstance(field, TextArea) else field.value if isinstance(field, Input) else None
        )

    def _set_result(self, text: str) -> None:
        field = self.query_one("#result")
        if isinstance(field, TextArea):
            # As an edit, so that it can be taken back in the field.
            field.replace(text, (0, 0), field.document.end)
            field.move_cursor(field.document.end)
        elif isinstance(field, Input):
            field.value = text

    @property
    def values(self) -> dict[str, str]:
        """What was written here: the result, unless it is one of the two as it stands."""
        result = self.result
        return {"result": result} if result is not None and self.edited else {}

    @property
    def begun(self) -> Mapping[str, str]:
        """Yours and theirs are never lost: only another result is."""
        return {}

    @property
    def edited(self) -> bool:
        """Whether the result is neither of the two."""
        return self.result not in (None, self._clash.ours.text, self._clash.theirs.text)

    def action_take(self, side: Side) -> None:
        self.choice = side
        if self._clash.textual:
            self._set_result(self._clash.version(side).text)
        self._show_choice()

    def action_all(self) -> None:
        self.alike = not self.alike and self._waiting > 1
        self._show_choice()

    def action_edit(self) -> None:
        if self._clash.textual:
            self.query_one("#result").focus()

    @on(TextArea.Changed)
    @on(Input.Changed)
    def follow(self) -> None:
        self._show_choice()

    def on_descendant_focus(self) -> None:
        self.refresh_keys()

    def _show_choice(self) -> None:
        result = self.result
        if result is not None:
            self.choice = "theirs" if result == self._clash.theirs.text else "ours"
        taken = "edited" if self.edited else self.names[self.choice]
        for side, title in self._titles().items():
            chosen = side == self.choice and not self.edited
            self.query_one(f"#{side}").border_title = Content.assemble("✓ " if chosen else "", title)
        if result is None:
            said = Content.assemble("Result: ", (taken, "bold"))
            self.query_one("#choice", Static).update(said)
        else:
            self.query_one("#result").border_title = Content(f"Result: {taken}")
        self.refresh_keys()

    def key_line(self) -> Content:
        names = {side: safe_line(name, _LONGEST_NAME) for side, name in self.names.items()}
        taken = "as edited" if self.is_mounted and self.edited else names[self.choice]
        if self._typing:
            return key_content(f"ctrl+s  save {taken} · esc  leave the field")
        edit = " · e  edit" if self._clash.textual else ""
        if self.alike and not self.edited:
            saved = f"save {taken} in all {self._waiting} · a  in this one only"
        else:
            saved = f"save {taken}" + (f" · a  in all {self._waiting}" if self._waiting > 1 else "")
        return key_content(
            f"y  {names['ours']} · t  {names['theirs']}{edit} · ctrl+s  {saved} · esc  decide later"
        )

    def refresh_keys(self) -> None:
        if self.is_mounted:
            super().refresh_keys()

    @property
    def _typing(self) -> bool:
        return isinstance(self.focused, TextArea | Input)

    # Saving and leaving

    def action_save(self) -> None:
        text = self.result
        if self.alike and not self.edited:
            self._save_all()
        elif text is not None and self.edited:
            text = squeeze(text) if self._clash.field in LINES else normalise_content(text)
            if not text:
                either = f"Press y for {self.names['ours']} or t for {self.names['theirs']}"
                warn(self, f"The result is empty. {either}, or write a text.")
                return
            self._save(text)
        else:
            self._save(None)

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save(self, text: str | None) -> None:
        done = await self.attempt(
            self._session.write(
                self._session.memory.history.resolve_conflict, self._clash.entry.id, self.choice, text
            )
        )
        if done is not None:
            name = self.names[self.choice]
            whose = (
                "your version"
                if name == _YOURS
                else name
                if name in (_WAITING, _SAVED)
                else f"{name} version"
            )
            decided = "saved your result" if text else f"{_DECIDED[self.choice]} {whose}"
            self.dismiss((done, f"Resolved: {decided}"))

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save_all(self) -> None:
        done = await self.attempt(
            self._session.write(self._session.memory.history.resolve_all_conflicts, self.choice)
        )
        if done:
            side = _DECIDED_IN_EACH[self.choice]
            self.dismiss((done[-1], f"Resolved {plural(len(done), 'conflict')}: {side}"))

    def action_close(self) -> None:
        if self._typing:
            self.query_one("#ours").focus()
        elif not self.edited:
            self.dismiss(None)
        else:
            self.ask_to_leave("Both versions stay as they are. The conflict waits in the audit log.")


def _pane(id: str, title: str, make: MakeLines) -> LineView:
    pane = LineView(make, id=id, classes="pane")
    pane.border_title = Content(title)
    return pane


def _lines(base: Version, version: Version, gone: str) -> MakeLines:
    if not version.there:
        return lambda width: Content.styled(gone, MUTED).wrap(width)
    if version is base and not version.text:
        return lambda width: Content.styled(_NO_BASE, MUTED).wrap(width)
    if version is base or not base.there:
        return plain_lines(version.text)
    return version_lines(base.text, version.text)


def _owned(author: Author, nobody: str) -> str:
    """A version by whose it is: "yours", "claude's"."""
    if author.kind == "person" and not author.name:
        return _YOURS
    if author.kind == "program" and not author.name:
        return _PROGRAM
    return f"{safe_line(str(author))}'s" if str(author) else nobody


def _capital(name: str) -> str:
    """A version's name as it begins a title; the name of an author stays as it is."""
    return f"{name[:1].upper()}{name[1:]}" if name in (_YOURS, _PROGRAM, _WAITING, _SAVED) else name


def _joined(*parts: str) -> Content:
    return content(" · ".join(part for part in parts if part))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


CAME: Final = "underline $text-success"
WENT: Final = "‸"
_WENT_STYLE: Final = "bold $text-error"
_MARKS: Final = {CAME, _WENT_STYLE}
_PIECES: Final = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")
# Comparing more pieces than this word by word would make a key wait.
_MOST_PIECES: Final = 1_500
_LONGEST: Final = 60_000


def version_lines(base: str, text: str) -> MakeLines:
    """The lines of a text for any width, with what differs from `base` marked."""
    if base == text:
        return partial(_plain_lines, text)
    old, new = _PIECES.findall(base), _PIECES.findall(text)
    if len(old) + len(new) > _MOST_PIECES:
        return partial(wrapped, text_difference(base, text))
    return partial(wrapped, Content.assemble(*_marked(old, new)).split("\n", allow_blank=True))


def plain_lines(text: str) -> MakeLines:
    """The lines of a text for any width."""
    return partial(_plain_lines, text)


def _marked(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, _, _, new_from, new_to in matcher.get_opcodes():
        if tag == "delete":
            yield WENT, _WENT_STYLE
        else:
            yield _shown("".join(new[new_from:new_to])), "" if tag == "equal" else CAME


def _shown(text: str) -> str:
    return plain(text.expandtabs(4))


def _plain_lines(text: str, width: int) -> list[Content]:
    return wrapped([Content(line) for line in _shown(text[:_LONGEST]).split("\n")], width)


# Fields whose two versions can be made one by writing.
TEXTS: Final = frozenset({"content", "title", "value", "key"})
# Of these a line is all there is room for.
LINES: Final = frozenset({"title", "key"})
Side = Literal["ours", "theirs"]
_COMPARED: Final = ("title", "content", "hidden", *METADATA_FIELDS)


@dataclass(frozen=True)
class Version:
    """One of the three versions; `there` is False when it says that the thing is gone, or was not there yet."""

    text: str
    there: bool = True


@dataclass(frozen=True)
class Clash:
    """A conflict with everything that is shown of it.

    title: of the note or fact. field: what of it, "" for the whole thing. ours: what waits; theirs: what stands in
    the files now. made: the entry that brought theirs, if the log tells. also: further fields that were changed in
    two ways. rest: how many more things the change that waits would do.
    """

    entry: Entry
    what: str
    title: str
    field: str
    base: Version
    ours: Version
    theirs: Version
    made: ChangeSet | None = None
    also: tuple[str, ...] = ()
    rest: int = 0

    @property
    def textual(self) -> bool:
        """Whether a third text can take the place of both."""
        return self.field in TEXTS

    @property
    def own(self) -> Side:
        """The side of the person here: what stands in the files, where another machine, a conflict copy or an agent has
        said what waits.
        """
        made = self.entry.change_set
        return "ours" if made.author in (PERSON, OURSELVES) and made.kind != "import" else "theirs"

    @property
    def came_in(self) -> bool:
        """Whether what waits is another machine's: by a sync, by git, or in a conflict copy."""
        made = self.entry.change_set
        return made.kind == "import" or made.author == GIT

    def version(self, side: Side) -> Version:
        """One of the two versions that can be taken."""
        return self.ours if side == "ours" else self.theirs


async def clash_of(session: Session, id: str) -> Clash:
    """A conflict that waits, against the memory as it is now. Raises NotFoundError."""

    def work() -> Clash:
        # What the change met may be newer than what was last loaded.
        session.memory.refresh_read_only()
        entry, snapshot = session.memory.history.entry(id), session.snapshot
        note_id = concerned(entry, snapshot)
        about_it = session.memory.history.log(limit=20, note=note_id) if note_id else ()
        return clash(entry, snapshot, about_it)

    return await run_in_thread(work)


def concerned(entry: Entry, snapshot: Snapshot) -> str:
    """The id of the note that a conflict is about, or of the note that mirrors its fact; "" for none."""
    conflict = _conflict(entry)
    if conflict.where in snapshot.by_id or any(c.id == conflict.where for c in entry.change_set.notes):
        return conflict.where
    for (nugget, key), note in snapshot.fact_notes.items():
        if conflict.where == f"{nugget}: {key}":
            return note.id
    return ""


def clash(entry: Entry, snapshot: Snapshot, about_it: Sequence[Entry]) -> Clash:
    """The conflict of an entry against the memory as it is now. about_it: entries about the same note, newest first."""
    conflict = _conflict(entry)
    change = _change(entry.change_set, conflict.where)
    now = _present(change, snapshot)
    # What comes in whole, without a version before it, is taken whole or not at all.
    field = "" if change is not None and change.before is None else conflict.field
    base, ours, theirs = _versions(conflict, field, change, now)
    made = next((e.change_set for e in about_it if e.state == "done" and e.change_set.kind != "hit"), None)
    also = _also(change, now, field) if isinstance(change, NoteChange) else ()
    return Clash(
        entry=entry,
        what=conflict.what,
        title=_title(change, conflict),
        field=field,
        base=base,
        ours=ours,
        theirs=theirs,
        made=made,
        also=also,
        rest=max(0, entry.change_set.size - 1),
    )


def _conflict(entry: Entry) -> Conflict:
    return entry.conflict or Conflict(what=entry.change_set.reason)


def _change(change_set: ChangeSet, where: str) -> NoteChange | FactChange | None:
    for note in change_set.notes:
        if where in (note.id, f"{note.note.nugget_name}: {note.note.key}" if note.note.is_fact else None):
            return note
    for fact in change_set.facts:
        if where in (f"{fact.nugget}: {fact.key}", f"{fact.nugget}: {fact.after.key if fact.after else ''}"):
            return fact
    return None


def _present(change: NoteChange | FactChange | None, snapshot: Snapshot) -> Note | Fact | None:
    if isinstance(change, NoteChange):
        return snapshot.by_id.get(change.id)
    if isinstance(change, FactChange) and change.nugget in snapshot.by_name:
        nugget = snapshot.by_name[change.nugget]
        keys = [change.key, *([change.after.key] if change.after else [])]
        return next((fact for key in keys for fact in nugget.facts if fact.key == key), None)
    return None


def _title(change: NoteChange | FactChange | None, conflict: Conflict) -> str:
    if isinstance(change, NoteChange):
        return change.note.title
    return change.key if change is not None else conflict.where


def _versions(
    conflict: Conflict, field: str, change: NoteChange | FactChange | None, now: Note | Fact | None
) -> tuple[Version, Version, Version]:
    if change is None:
        return Version(conflict.base), Version(conflict.ours), Version(conflict.theirs)
    if field:
        kept = Version(conflict.base), Version(conflict.ours)
        there = now is not None and hasattr(now, field)
        theirs = getattr(now, field) if there else conflict.theirs
        versions = (*kept, Version(str(theirs)))
        return _in_words(*versions) if field == "hidden" else versions
    return _whole(change.before), _whole(change.after), _whole(now)


def _whole(thing: Note | Fact | None) -> Version:
    if thing is None:
        return Version("", there=False)
    if isinstance(thing, Fact):
        return Version(f"{thing.key}\n\n{thing.value}")
    state = "\n\n(hidden)" if thing.hidden else ""
    return Version(f"{thing.title}\n\n{thing.content}{state}")


def _in_words(base: Version, ours: Version, theirs: Version) -> tuple[Version, Version, Version]:
    def said(version: Version) -> Version:
        return Version("hidden" if version.text == "True" else "not hidden")

    return said(base), said(ours), said(theirs)


def _also(change: NoteChange, now: Note | Fact | None, field: str) -> tuple[str, ...]:
    """Further fields in which what waits and what stands in the files differ, each from what was before."""
    before, after = change.before, change.after
    if before is None or after is None or not isinstance(now, Note) or not field:
        return ()

    def apart(name: str) -> bool:
        base, ours, theirs = (_plain(getattr(note, name)) for note in (before, after, now))
        return ours != base and theirs not in (base, ours)

    return tuple(name for name in _COMPARED if name != field and apart(name))


def _plain(value: Any) -> Any:
    return squeeze(value) if isinstance(value, str) else value


def in_the_way(error: ConflictError, snapshot: Snapshot, keys: KeyMap = DEFAULT) -> str:
    """Why something cannot be taken back or done again, in sentences; notes by their titles."""
    note = snapshot.by_id.get(error.where)
    where = f'"{note.title}"' if note is not None else error.where
    said = "; ".join(part for part in (error.what, step(error, keys)) if part)
    return f"{where}: {said}. Nothing was changed."
