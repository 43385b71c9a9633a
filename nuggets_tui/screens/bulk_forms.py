"""What is asked before many notes are changed: which tags come and go, which scope they move to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from core.model.note import SCOPES, Note, normalise_tag
from core.model.snapshot import Snapshot
from nuggets_tui.bulk import tag_counts
from nuggets_tui.notices import notify
from nuggets_tui.safe_text import content, cut, safe_line
from nuggets_tui.screens.choice import ChoiceScreen
from nuggets_tui.screens.confirm import ConfirmScreen, close_if_sure
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.typed_tags import split_tags
from nuggets_tui.widgets.completed_field import CompletedField, Offer, tag_offers
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural

_TAGS: Final = 24
_TAG: Final = 30
_SCOPE_MEANINGS: Final = {
    "self": "about the assistant itself",
    "user": "about you, in every project",
    "shared": "known to all projects",
    "project": "about this project",
    "session": "for this session only; never promoted",
}


class TagsWanted(NamedTuple):
    """Tags to add to notes and tags to take off; review: whether each note is to be looked at before."""

    add: list[str]
    remove: list[str]
    review: bool


class TagsOfManyScreen(Dialog[TagsWanted]):
    """Answers with the tags to add and those to take off, and says beforehand of how many notes each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "go_on", "apply", show=False),
        Binding("ctrl+r", "go_on(True)", "review each note", show=False),
    ]
    keys = "ctrl+s  apply · ctrl+r  review each note · tab  next field · esc  close"

    def __init__(self, snapshot: Snapshot, notes: Sequence[Note]) -> None:
        super().__init__(classes="small")
        self.heading = f"Change the tags of {len(notes):,} selected notes"
        self._snapshot = snapshot
        self._counts = tag_counts(notes)
        self._selected = len(notes)

    def compose_inside(self) -> ComposeResult:
        yield Static(self._present(), classes="words")
        hint = "words separated by spaces"
        yield CompletedField("Add", id="add", hint=hint, offers_for=partial(tag_offers, self._snapshot))
        yield CompletedField("Remove", id="remove", hint=hint, offers_for=self._worn)
        yield Static(id="preview", classes="words")

    @on(Input.Changed)
    def preview(self) -> None:
        self.query_one("#preview", Static).update(self._preview())

    def _preview(self) -> Content:
        worn = {normalise_tag(tag): count for tag, count in self._counts}
        add, remove = self.values
        said = [
            (f"+{cut(tag, _TAG)}", self._selected - worn.get(normalise_tag(tag), 0))
            for tag in dict.fromkeys(add)
        ]
        said += [(f"-{cut(tag, _TAG)}", worn.get(normalise_tag(tag), 0)) for tag in dict.fromkeys(remove)]
        parts = [
            Content.assemble(content(tag, "$text-accent"), (f" on {plural(count, 'note')}", MUTED))
            for tag, count in said[:_TAGS]
        ]
        if len(said) > _TAGS:
            parts.append(Content.styled(f"and {len(said) - _TAGS:,} more", MUTED))
        return Content("   ").join(parts)

    def _worn(self, typed: str) -> list[Offer]:
        """The tags that can be taken off and go on as the last word does."""
        worn = {tag for tag, _ in self._counts}
        return [offer for offer in tag_offers(self._snapshot, typed) if offer.word in worn]

    def _present(self) -> Content:
        counts = self._counts
        if not counts:
            return Content.styled("The selected notes have no tags yet.", MUTED)
        parts = [
            Content.assemble(content(cut(tag, _TAG), "$text-secondary"), (f" {count:,}", MUTED))
            for tag, count in counts[:_TAGS]
        ]
        if len(counts) > _TAGS:
            parts.append(Content.styled(f"and {len(counts) - _TAGS:,} more", MUTED))
        return Content("   ").join(parts)

    def on_mount(self) -> None:
        self.query_one("#add", Input).focus()

    @property
    def values(self) -> tuple[list[str], list[str]]:
        """Tags to add, and tags to take off."""
        add, remove = (self.query_one(f"#{name}", Input).value for name in ("add", "remove"))
        return split_tags(add), split_tags(remove, [tag for tag, _ in self._counts])

    @on(Input.Submitted)
    def enter(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id == "remove":
            self.action_go_on()
        else:
            self.focus_next()

    def action_go_on(self, review: bool = False) -> None:
        if any(self.values):
            self.dismiss(TagsWanted(*self.values, review))
        else:
            notify(self, "Type a tag to add or remove.")

    @property
    def unsaved(self) -> bool:
        return any(self.values)

    def action_close(self) -> None:
        if not self.unsaved:
            self.dismiss(None)
            return
        question = ConfirmScreen(
            "Close without changing tags?", "What you typed here is lost.", yes="close", leaves=True
        )
        close_if_sure(self, question)


class ScopeScreen(ChoiceScreen):
    """Answers with the scope that notes are to move to."""

    keys = "⏎  move there · ↑↓  choose · esc  close"

    def __init__(self, notes: Sequence[Note]) -> None:
        self.heading = (
            f"Move {len(notes):,} selected notes to another scope"
            if len(notes) > 1
            else f'Move "{safe_line(notes[0].title, 60)}" to another scope'
        )
        here = {scope: sum(note.scope == scope for note in notes) for scope in SCOPES}
        super().__init__([_scope_row(scope, here[scope], len(notes)) for scope in SCOPES])

    said = (
        "The scope says whom a note concerns. Its subject and stability follow, unless you or an "
        "agent set them."
    )


def _scope_row(scope: str, count: int, total: int) -> Row:
    here = "" if not count else "here now" if total == 1 else f"{plural(count, 'note')} here now"
    head = sides(Content.styled(scope, "bold"), Content.styled(here, "$text-secondary"))
    return Row(scope, (head, Content.styled(f"  {_SCOPE_MEANINGS[scope]}", MUTED)))
