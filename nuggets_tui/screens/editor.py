"""The editor: title, text, tags and metadata of a note; what is typed stays until it is saved or given up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import OptionList, Select, TextArea

from core.errors import InvalidInputError
from core.graph.edits import create_note, edit_note
from core.model.draft import Draft
from core.model.infer import MetaInput
from core.model.names import DEFAULT_NUGGET
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES, Note
from core.model.snapshot import Snapshot
from nuggets_tui.notices import notify
from nuggets_tui.pace import run_in_thread
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.forms import Saved
from nuggets_tui.screens.typed import TypedDialog, TypedTextStore, fields_of, split_tags
from nuggets_tui.session import PendingConflict, Session, or_pending_conflict
from nuggets_tui.widgets.fields import Choice, CompletedField, Field, TextField, nugget_offers, tag_offers
from nuggets_tui.widgets.line_view import CHARACTERS, LineView, markdown_lines
from nuggets_tui.widgets.row_text import MUTED

CHOICES: Final = {"scope": SCOPES, "type": TYPES, "source": SOURCES, "stability": STABILITIES}
# Wrapping and drawing so much at once would make the keys wait.
LONGEST_TEXT: Final = 100_000
# Columns from which text and preview stand side by side.
_WIDE: Final = 100
# Seconds without a key after which the preview is drawn.
_PREVIEW_PAUSE, _LONG_PAUSE = 0.15, 0.5


class EditorScreen(TypedDialog[Saved | PendingConflict]):
    """Edits a note, or writes a new one when there is none. Answers with the note and its change set.

    Where another program changed the same text meanwhile, what was typed waits in the log, and the answer says where.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", show=False, priority=True),
        Binding("ctrl+r", "preview", "preview", show=False, priority=True),
    ]
    not_saved = "Your edit is not saved. The text is still here; ctrl+s tries again."
    about = (
        "Title, tags, text and metadata of one note. Tags and nuggets are suggested as you type: tab "
        "or → accepts one, ↑ shows another. What you type survives a crash until you save or discard "
        "it. If another program changes the note meanwhile, the changes are merged or shown."
    )

    def __init__(
        self,
        session: Session,
        base: Snapshot,
        note: Note | None,
        *,
        nugget: str = "",
        typed: Mapping[str, str] | None = None,
        text_store: TypedTextStore | None = None,
    ) -> None:
        """`typed`: see `TypedDialog`, such as the text of an outside editor that could not be saved."""
        super().__init__(classes="full")
        self.heading = "Write a note" if note is None else f'Edit "{note.title}"'
        self.typed = typed
        self.text_store = text_store
        self._session = session
        self._base = base
        self._note = note
        self._nugget = nugget or DEFAULT_NUGGET
        self._begun: dict[str, str] = {}
        # What a person chose; None: the preview is there where there is room for it.
        self._preview_wanted: bool | None = None
        self._preview_timer: Timer | None = None
        self._previews = 0

    def compose_inside(self) -> ComposeResult:
        note = self._note
        fields = fields_of(note) if note is not None else {}
        # A fact is made with a key and a value; both are called so here too. Some titles are not the key.
        fact = note is not None and note.is_fact and note.title == note.key
        snapshot = self._base
        with Horizontal(classes="line"):
            label = "Key" if fact else "Title"
            yield Field(label, fields.get("title", ""), id="title", hint="what it is about, in a few words")
            yield CompletedField(
                "Tags",
                fields.get("tags", ""),
                id="tags",
                hint="words separated by spaces",
                offers_for=partial(tag_offers, snapshot),
            )
        with Horizontal(id="writing"):
            yield TextField("Value" if fact else "Text", fields.get("text", ""), id="text")
            preview = LineView(id="preview", classes="pane")
            preview.border_title = Content("Preview")
            preview.can_focus = False
            yield preview
        with Container(id="metadata", classes="-new" if note is None else ""):
            if note is None:
                yield CompletedField(
                    "Nugget", self._nugget, id="nugget", offers_for=partial(nugget_offers, snapshot)
                )
            for name, values in CHOICES.items():
                yield self._choice(name, values)
            yield Field("Confidence", fields.get("confidence", ""), id="confidence", hint="inferred")

    def _choice(self, name: str, values: tuple[str, ...]) -> Choice:
        present = getattr(self._note, name) if self._note is not None else ""
        chosen = present if present in values else Select.NULL
        prompt = "inferred" if self._note is None else "as it is"
        select = Choice(
            [(value, value) for value in values],
            value=chosen,
            prompt=prompt,
            id=name,
            classes="field",
            compact=True,
        )
        select.border_title = Content(name.capitalize())
        return select

    def on_mount(self) -> None:
        self._begun = self.values
        for select in self.query(Select):
            # Textual dims the line that stands for no choice.
            select.query_one(OptionList).replace_option_prompt_at_index(
                0, Content.styled(select.prompt, MUTED)
            )
        self._take_over(self.typed or {})
        text = self.query_one("#text", TextArea)
        text.move_cursor(text.document.end)
        self.query_one("#title" if self._note is None and not self.typed else "#text").focus()
        self._arrange()

    def _take_over(self, typed: Mapping[str, str]) -> None:
        for field in self.query(Field):
            field.value = typed.get(field.id or "", field.value)
        for select in self.query(Select):
            if typed.get(select.id or "") in CHOICES.get(select.id or "", ()):
                select.value = typed[select.id or ""]
        text = self.query_one("#text", TextArea)
        if typed.get("text", text.text) != text.text:
            # As an edit, so that it can be taken back in the field.
            text.replace(typed["text"], (0, 0), text.document.end)

    @property
    def values(self) -> dict[str, str]:
        found = {field.id or "": field.value for field in self.query(Field)}
        found["text"] = self.query_one("#text", TextArea).text
        for select in self.query(Select):
            found[select.id or ""] = "" if select.value is Select.NULL else str(select.value)
        return found

    @property
    def begun(self) -> Mapping[str, str]:
        """What stood in the fields at first."""
        return self._begun

    def key_line(self) -> Content:
        narrow = self.size.width < _WIDE
        preview = "text" if narrow and self._previewed else "preview"
        return key_content(f"ctrl+s  save · ctrl+z ctrl+y  undo, redo · ctrl+r  {preview} · esc  close")

    # The preview

    @property
    def _previewed(self) -> bool:
        return self._preview_wanted if self._preview_wanted is not None else self.size.width >= _WIDE

    def action_preview(self) -> None:
        self._preview_wanted = not self._previewed
        self._arrange()
        if self.query_one("#text").display:
            self.query_one("#text").focus()

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        if not self.query("#preview"):
            return
        narrow, previewed = self.size.width < _WIDE, self._previewed
        preview, text = self.query_one("#preview", LineView), self.query_one("#text", TextArea)
        preview.display = previewed
        preview.can_focus = previewed and narrow
        text.display = not (previewed and narrow)
        if not text.display and (self.focused is None or self.focused is text):
            preview.focus()
        self.refresh_keys()
        self._draw_later()

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def follow(self) -> None:
        self._draw_later()

    def _draw_later(self) -> None:
        if not self._previewed:
            return
        if self._preview_timer is not None:
            self._preview_timer.stop()
        long = len(self.query_one("#text", TextArea).text) > CHARACTERS
        self._preview_timer = self.set_timer(_LONG_PAUSE if long else _PREVIEW_PAUSE, self._draw)

    @work(group="preview", exclusive=True, exit_on_error=False)
    async def _draw(self) -> None:
        preview, text = self.query_one("#preview", LineView), self.query_one("#text", TextArea)
        width = preview.scrollable_content_region.width
        if width <= 1:
            return
        shown = await run_in_thread(previewed, text.text, text.cursor_location[0], width - 1)
        if not self.is_mounted:
            return
        if preview.scrollable_content_region.width == width:
            preview.show_lines(lambda _: shown.lines, keep_scroll=True)
            preview.scroll_to(0, shown.place - preview.size.height // 2, animate=False, immediate=True)
        else:
            self._draw_later()

    # Saving

    def action_save(self) -> None:
        if self._note is not None and not self.changed:
            notify(self, "Nothing changed.")
            self.dismiss(None)
            return
        self._save()

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _save(self) -> None:
        done = await self.attempt(or_pending_conflict(self._saved()))
        if done is not None:
            self.dismiss(done)

    async def _saved(self) -> Saved:
        values, note = self.values, self._note
        if note is None:
            edit = partial(
                create_note, nugget=values["nugget"].strip(), title=values["title"], content=values["text"],
                tags=split_tags(values["tags"]), meta=_meta(self.changed),
            )  # fmt: skip
            return await self._session.change(f"wrote {values['title'].strip()}", edit)
        return await self._session.change_from(self._base, f"edited {note.title}", self._edit_of(note))

    def _edit_of(self, note: Note) -> Callable[[Draft], Note]:
        changed = self.changed
        meta = _meta(changed)

        def edit(draft: Draft) -> Note:
            return edit_note(
                draft,
                note.id,
                title=changed.get("title"),
                content=changed.get("text"),
                tags=split_tags(changed["tags"], note.tags) if "tags" in changed else None,
                meta=meta,
            )

        return edit


def _meta(changed: dict[str, str]) -> MetaInput:
    typed = changed.get("confidence", "").strip().replace(",", ".")
    try:
        confidence = float(typed) if typed else None
    except ValueError:
        raise InvalidInputError(
            "must be a number from 0 to 1",
            field="confidence",
            where="confidence",
            kept="what you typed is still here",
        ) from None
    return MetaInput(
        scope=changed.get("scope") or None,
        type=changed.get("type") or None,
        source=changed.get("source") or None,
        stability=changed.get("stability") or None,
        confidence=confidence,
    )


_FENCE: Final = re.compile(r"^ {0,3}(```|~~~)")
_FENCE_ROOM: Final = 4
# A part begins at a blank line at most so many lines before the place it was to begin at.
_LOOKBACK: Final = 200


class Preview(NamedTuple):
    """Lines, and the one of them that shows about the place of the cursor."""

    lines: Sequence[Content]
    place: int


def previewed(text: str, line: int, width: int, most: int = CHARACTERS) -> Preview:
    """The Markdown of a text in lines of at most `width` cells; of one longer than `most` characters the part around
    a line, which begins at a blank line where there is one near.

    line: of the text, from 0, where the cursor is.
    """
    lines = text.split("\n")
    line = max(0, min(line, len(lines) - 1))
    first = _first_line(lines, line, most) if len(text) > most else 0
    before = sum(map(len, lines[:first])) + first
    part = text[before : before + most]
    shown = markdown_lines(_open_fence(lines[:first]) + part, width, most + _FENCE_ROOM)
    if first:
        shown.insert(0, Content.styled("… the part around the cursor", "$text-muted"))
    inside = "\n".join(lines[first : line + 1])
    # Nothing tells which line of the text became which of the picture: its share of the height comes near.
    share = min(1.0, len(inside) / max(len(part), 1))
    return Preview(shown, round(share * max(len(shown) - 1, 0)))


def _open_fence(lines: Sequence[str]) -> str:
    """What opens code at the end of some lines that is still open there; "" for none."""
    opening = ""
    for line in lines:
        fence = _FENCE.match(line)
        if fence and (not opening or fence[1] == opening):
            opening = "" if opening else fence[1]
    return f"{opening}\n" if opening else ""


def _first_line(lines: Sequence[str], line: int, most: int) -> int:
    """Where a part of about `most` characters begins that has a line in its middle."""
    room, first = most // 2, line
    while first > 0 and room > 0:
        first -= 1
        room -= len(lines[first]) + 1
    if first == 0:
        return 0
    if room < 0 and first < line:
        first += 1
    for place in range(first, max(first - _LOOKBACK, 0), -1):
        if not lines[place - 1].strip():
            return place
    return first
