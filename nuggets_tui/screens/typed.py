"""What dialogs share in which somebody types: what is not saved yet is kept against a crash, and esc asks first."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

import msgspec
from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import ScreenResultType
from textual.widgets import Input, Select, TextArea

from core.errors import ConflictError, InvalidInputError, NuggetsError, UnfinishedError
from core.model.names import iso
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.verbs import typed_tag
from nuggets_tui.listing import own_tags
from nuggets_tui.notices import dismiss_errors, notify, notify_error
from nuggets_tui.screens.dialog import ConfirmScreen, Dialog
from nuggets_tui.widgets.fields import Field

if TYPE_CHECKING:
    from core.unsaved import Unsaved, UnsavedFile

_Answer = TypeVar("_Answer")
_Result = TypeVar("_Result")
# Seconds from a key until what is typed is on its way to disk, and at least between two writes.
_PAUSE: Final = 0.6


class LeaveScreen(ConfirmScreen):
    """Asks what becomes of a text: d lets it go, enter goes on with it; esc keeps it as a draft and leaves, where there
    is a place for drafts.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "answer(True)", "discard", show=False)]
    # Whether the answer is to keep the text.
    later = False

    def __init__(self, text: str, *, keeps: bool) -> None:
        super().__init__("You have unsaved changes", text, yes="discard")
        self.keys = f"{'esc  keep draft · ' if keeps else ''}d  discard · ⏎  keep editing"
        self._keeps = keeps

    def action_close(self) -> None:
        self.later = self._keeps
        self.dismiss(self._keeps)


class TypedDialog(Dialog[_Answer]):
    """A dialog with fields. `keeping`: where what is typed is kept until it is saved or let go; None for nowhere.

    typed: what stands in the fields in place of what they would begin with, by their names.
    """

    text_store: TypedTextStore | None = None
    typed: Mapping[str, str] | None = None
    # What stood in the fields at the last key, and when it was last on its way to disk.
    _last: Mapping[str, str] = MappingProxyType({})
    _written: Mapping[str, str] = _last
    _under_way = False
    _over = False
    _warned = False
    # Whether a notice is about what stands in a field.
    _complained = False

    @property
    def values(self) -> dict[str, str]:
        """What stands in the fields, by their names."""
        raise NotImplementedError

    @property
    def begun(self) -> Mapping[str, str]:
        """What stood in the fields at first."""
        raise NotImplementedError

    @property
    def changed(self) -> dict[str, str]:
        """The fields that hold something else than at first."""
        begun = self.begun
        return {name: value for name, value in self.values.items() if value != begun.get(name, "")}

    @property
    def unsaved(self) -> bool:
        """Whether something typed here would be lost."""
        return bool(self.changed)

    # Against a crash

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    def store_typed_soon(self) -> None:
        if self.text_store is None or self._over:
            return
        self._last = self.values
        if not self._under_way:
            self._under_way = True
            self.set_timer(_PAUSE, self._store_typed)

    @work(group="keep", exit_on_error=False)
    async def _store_typed(self) -> None:
        text_store = self.text_store
        if text_store is None or self._over or not self.is_mounted:
            return
        begun, values = dict(self.begun), self._last
        self._written = values
        try:
            await asyncio.to_thread(text_store.write, begun, values)
        except NuggetsError as error:
            # Said once: it would be said at every key.
            if not self._warned:
                self._warned = True
                notify_error(self, error, "A crash now would lose what you type here.")
        self._under_way = False
        if self._written is not self._last:
            self.store_typed_soon()

    def on_unmount(self) -> None:
        if self.text_store is not None and not self._over and self._written is not self._last:
            with contextlib.suppress(Exception):
                self.text_store.write(self.begun, self._last)

    def dismiss(self, result: ScreenResultType | None = None) -> object:  # type: ignore[override]
        """Closes: what was typed is saved, or let go."""
        if self.text_store is not None and not self._over:
            self._run_in_thread(self.text_store.kept.end)
        self._over = True
        self._forget_complaint()
        return super().dismiss(result)  # type: ignore[arg-type]

    def _run_in_thread(self, work: Callable[[], None]) -> None:
        # A thread that the program waits for at its end.
        done = asyncio.get_running_loop().run_in_executor(None, work)
        done.add_done_callback(lambda future: future.cancelled() or future.exception())

    # What is wrong with a field

    async def attempt(self, asked: Awaitable[_Result]) -> _Result | None:
        """As in every dialog; what is wrong with a field is said beside it too."""

        async def pointing() -> _Result:
            try:
                return await asked
            except UnfinishedError:
                # What was typed is in the log: saved once more, it would be there twice.
                self.dismiss(None)
                raise
            except (InvalidInputError, ConflictError) as error:
                self._point_at(error)
                raise

        return await super().attempt(pointing())

    def _point_at(self, error: NuggetsError) -> None:
        fields = {field.id or "": field for field in self.query(Field)}
        if error.field in fields:
            fields[error.field].complain(error.what)
            self._complained = True

    @on(Input.Changed)
    def _field_changed(self) -> None:
        self._forget_complaint()

    def _forget_complaint(self) -> None:
        if self._complained:
            self._complained = False
            dismiss_errors(self)

    # Leaving

    def action_close(self) -> None:
        if self.unsaved:
            self.ask_to_leave()
        else:
            self.dismiss(None)

    def ask_to_leave(self, more: str = "") -> None:
        """Asks what becomes of what was typed."""
        keeps = self.text_store is not None
        said = 'ctrl+p "unsaved" continues a draft.' if keeps else "No draft can be kept here."
        question = LeaveScreen(f"{said} {more}".strip(), keeps=keeps)

        def answered(sure: bool | None) -> None:
            if sure and question.later:
                self._keep_for_later()
            elif sure:
                self.dismiss(None)
            else:
                self.quitting = False

        self.app.push_screen(question, answered)

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _keep_for_later(self) -> None:
        text_store = self.text_store
        assert text_store is not None
        unsaved = text_store.unsaved(self.begun, self.values)

        async def put() -> bool:
            await asyncio.to_thread(text_store.kept.put_aside, unsaved)
            return True

        if await self.attempt(put()):
            self._over = True
            notify(self, 'Draft kept. To continue: ctrl+p "unsaved", or start the app again.')
            self.dismiss(None)
        else:
            self.quitting = False


class FieldsDialog(TypedDialog[_Answer]):
    """A form of one-line fields: enter goes from one to the next, and from the last one it saves.

    It stays open, with everything in it, while saving fails.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "save", show=False)]
    keys = "ctrl+s  save · tab  next field · esc  close"

    async def saved(self) -> _Answer:
        """Saves what stands in the fields; the answer of the dialog."""
        raise NotImplementedError

    @property
    def values(self) -> dict[str, str]:
        """What stands in the fields, by their names."""
        return {field.id or "": field.value for field in self.query(Field)}

    @on(Input.Submitted)
    def go_on(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input is self.query(Field).last():
            self.action_save()
        else:
            self.focus_next()

    def action_save(self) -> None:
        self._save()

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save(self) -> None:
        done = await self.attempt(self.saved())
        if done is not None:
            self.dismiss(done)


_METADATA = ("scope", "type", "source", "stability")


@dataclass(frozen=True)
class TypedTextStore:
    """Where the text of one dialog is kept. kind, about, title: as in `core.unsaved.Unsaved`."""

    kept: UnsavedFile
    clock: Callable[[], datetime]
    kind: str
    about: str = ""
    title: str = ""

    def unsaved(self, begun: Mapping[str, str], values: Mapping[str, str]) -> Unsaved:
        from core.unsaved import Unsaved

        title = self.title or values.get("title", "").strip()
        return Unsaved(self.kind, self.about, title, dict(begun), dict(values), iso(self.clock()))

    def write(self, begun: Mapping[str, str], values: Mapping[str, str]) -> None:
        """Keeps the text; for a thread. Raises StorageError."""
        if any(value != begun.get(name, "") for name, value in values.items()):
            self.kept.write(self.unsaved(begun, values))
        else:
            self.kept.remove()


def fields_of(note: Note) -> dict[str, str]:
    """What the fields of the editor hold for a note."""
    return {
        "title": note.title,
        "tags": " ".join(own_tags(note)),
        "text": note.content,
        **{name: getattr(note, name) for name in _METADATA},
        "confidence": f"{note.confidence:g}",
    }


def is_saved(unsaved: Unsaved, snapshot: Snapshot) -> bool:
    """Whether a text stands in the memory as it was typed: it was saved at the last moment."""
    from core.text.normalise import normalise_content, squeeze

    def stands(note: Note) -> bool:
        fields = fields_of(note)
        return all(
            squeeze(value) == squeeze(fields.get(name, ""))
            if name != "text"
            else normalise_content(value) == note.content
            for name, value in unsaved.changed.items()
            if name != "nugget"
        )

    if unsaved.kind == "note" and unsaved.about:
        note = snapshot.by_id.get(unsaved.about)
        return note is not None and stands(note)
    titled = (note for note in snapshot.notes if note.title == squeeze(unsaved.values.get("title", "")))
    return unsaved.kind == "note" and any(map(stands, titled))


def as_begun(snapshot: Snapshot, note: Note, begun: Mapping[str, str]) -> tuple[Snapshot, Note]:
    """The memory as it was when somebody began to edit a note, as far as it is known; what another program changed
    of the note since then is a conflict when it is saved.
    """
    from core.text.normalise import normalise_content, squeeze

    present = fields_of(note)
    # A field may show white space and line ends otherwise than they are stored.
    changes: dict[str, object] = {
        name: begun[name]
        for name in ("title", *_METADATA)
        if squeeze(begun.get(name, present[name])) != squeeze(present[name])
    }
    if normalise_content(begun.get("text", note.content)) != normalise_content(note.content):
        changes["content"] = begun["text"]
    if begun.get("tags", present["tags"]) != present["tags"]:
        own = own_tags(note)
        changes["tags"] = (
            *(tag for tag in note.tags if tag not in own),
            *begun["tags"].split(),
        )
    if not changes:
        return snapshot, note
    former = msgspec.structs.replace(note, **changes)
    notes = tuple(former if one is note else one for one in snapshot.notes)
    return replace(_facts_as_begun(snapshot, note, former), notes=notes), former


def _facts_as_begun(snapshot: Snapshot, note: Note, former: Note) -> Snapshot:
    """The memory with the fact that a note mirrors as the note was."""
    nugget = snapshot.by_name.get(note.nugget_name)
    if nugget is None or not note.is_fact or note.hidden or note.content == former.content:
        return snapshot
    facts = tuple(
        msgspec.structs.replace(fact, value=former.content) if fact.key == note.key else fact
        for fact in nugget.facts
    )
    changed = msgspec.structs.replace(nugget, facts=facts)
    return replace(snapshot, nuggets=tuple(changed if one is nugget else one for one in snapshot.nuggets))


_SIGNS = ("#", "+")


def split_tags(text: str, known: Collection[str] = ()) -> list[str]:
    """Tags as typed: parted by spaces or commas. known: as in `typed_tag`."""
    return [typed_tag(tag, known) for tag in text.replace(",", " ").split()]
