"""Masks: credentials with what is put in their place, laid over texts, notes, facts, change sets and bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final

import msgspec

from core.model.basis import normalise_tag, vector_spec
from core.model.change import Author, ChangeSet, FactChange, FileChange, NoteChange
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, replace
from core.model.secrets import Held
from core.text.mask import mask
from core.text.secrets import find_secrets
from core.text.tokens import basis_tokens

_MASKED_TAG: Final = "masked"
_LEAST: Final = 5
_LEAST_DIGITS: Final = 10
_LEAST_LINE: Final = 32
_LEAST_TOKEN: Final = 4
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)++"', re.DOTALL)


class Masks:
    """What is masked. Values that stand for themselves are masked wherever they stand; words and short numbers, which
    other texts may hold with another meaning, only where they look like a credential.
    """

    def __init__(self, held: Iterable[Held]) -> None:
        kinds: dict[str, str] = {}
        for one in held:
            kinds.setdefault(one.value, one.kind)
            for line in one.value.splitlines() if "\n" in one.value else ():
                if len(line.strip()) >= _LEAST_LINE:
                    kinds.setdefault(line.strip(), one.kind)
        self._kinds = dict(sorted(kinds.items(), key=lambda item: -len(item[0])))
        self._plain = frozenset(value for value in kinds if not is_distinctive(value))
        anywhere = [re.escape(value) for value in self._kinds if value not in self._plain]
        self._anywhere = re.compile("|".join(anywhere)) if anywhere else None
        self.fragments = frozenset(
            token for value in kinds for token in basis_tokens(value) if len(token) >= _LEAST_TOKEN
        )

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def spelled(self, *forms: Callable[[str], str]) -> Masks:
        """Masks for these values and for what each form makes of them, such as their lower case."""
        return Masks(
            Held(kind, each)
            for value, kind in self._kinds.items()
            for each in (value, *(form(value) for form in forms))
            if each
        )

    # Texts

    def text(self, text: str) -> str:
        """A text with the values masked."""
        if self._anywhere is not None:
            text = self._anywhere.sub(lambda found: mask(self._kinds[found[0]]), text)
        return self._in_context("", text)[1]

    def _in_context(self, title: str, text: str) -> tuple[str, str]:
        if not any(value in text or value in title for value in self._plain):
            return title, text
        whole = f"{title}: {text}" if title else text
        start = len(whole) - len(text)
        for secret in reversed(find_secrets(whole)):
            value = whole[secret.start : secret.end]
            if value in self._plain and (secret.start >= start or secret.end <= len(title)):
                whole = whole[: secret.start] + mask(self._kinds[value]) + whole[secret.end :]
                if secret.end <= len(title):
                    start += len(mask(self._kinds[value])) - len(value)
        return whole[: max(0, start - 2)], whole[start:]

    def pair(self, title: str, text: str) -> tuple[str, str]:
        """A title and its text, or a key and its value, with the values masked."""
        return self._in_context(self.text(title), self.text(text))

    def value(self, value: Any) -> Any:
        """A value of JSON with the texts in it masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.value(item) for name, item in value.items()}
        return [self.value(item) for item in value] if isinstance(value, list | tuple) else value

    # Notes, facts, entries

    def note(self, note: Note) -> Note:
        """The note with the values masked, tags and vector's recipe in step; the same note when it holds none."""
        title, content = self.pair(note.title, note.content)
        changed = replace(
            note,
            title=title,
            content=content,
            source_key=title if note.source_key == note.title else self._optional(note.source_key),
            tags=tuple(dict.fromkeys(map(self._tag, note.tags))),
            links=tuple(
                msgspec.structs.replace(link, reason=self.text(link.reason), extra=self.value(link.extra))
                for link in note.links
            ),
            subject=self.text(note.subject),
            last_hit_session=self.text(note.last_hit_session),
            hidden_fact=self._hidden_fact(note.hidden_fact),
            extra=self.value(note.extra),
        )
        told = any(part.partition(":")[2] in self.fragments for part in note.vector.basis)
        if changed == note and not told:
            return note
        return replace(changed, vector=vector_spec(changed))

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def _tag(self, tag: str) -> str:
        held = any(
            value in tag or normalise_tag(value) in tag for value in self._kinds if value not in self._plain
        )
        return _MASKED_TAG if held else tag

    def _hidden_fact(self, fact: HiddenFact | None) -> HiddenFact | None:
        if fact is None:
            return None
        key, value = self.pair(fact.key, fact.value)
        return msgspec.structs.replace(
            fact,
            key=key,
            value=value,
            last_hit_session=self.text(fact.last_hit_session),
            extra=self.value(fact.extra),
        )

    def fact(self, fact: Fact) -> Fact:
        """The fact with the values masked; the same fact when it holds none."""
        key, value = self.pair(fact.key, fact.value)
        changed = msgspec.structs.replace(
            fact,
            key=key,
            value=value,
            last_hit_session=self.text(fact.last_hit_session),
            extra=self.value(fact.extra),
        )
        return fact if changed == fact else changed

    def change_set(self, change_set: ChangeSet) -> ChangeSet:
        """The change set with the values masked on both sides of each change; the same one when it holds none."""
        changed = msgspec.structs.replace(
            change_set,
            reason=self.text(change_set.reason),
            author=Author(change_set.author.kind, self.text(change_set.author.name)),
            notes=tuple(map(self._note_change, change_set.notes)),
            facts=tuple(map(self._fact_change, change_set.facts)),
            files=tuple(map(self._file_change, change_set.files)),
        )
        return change_set if changed == change_set else changed

    def _note_change(self, change: NoteChange) -> NoteChange:
        before, after = (
            self.note(side) if side is not None else None for side in (change.before, change.after)
        )
        return msgspec.structs.replace(change, before=before, after=after)

    def _fact_change(self, change: FactChange) -> FactChange:
        before, after = (
            self.fact(side) if side is not None else None for side in (change.before, change.after)
        )
        key = before.key if before is not None else after.key if after is not None else self.text(change.key)
        return msgspec.structs.replace(change, key=key, before=before, after=after)

    def _file_change(self, change: FileChange) -> FileChange:
        before, after = (
            self.data(side) if side is not None else None for side in (change.before, change.after)
        )
        return msgspec.structs.replace(change, before=before, after=after)

    def conflict(self, conflict: Conflict) -> Conflict:
        """The conflict with the values masked in each of its texts."""
        texts = {name: self.text(getattr(conflict, name)) for name in Conflict.__struct_fields__}
        return msgspec.structs.replace(conflict, **texts)

    # Bytes

    def may_hold(self, data: bytes) -> bool:
        """Whether bytes may hold a value in one of the spellings that files have for it. Never a false no."""
        if b"\\u" in data or any(form in data for form, _ in self._forms):
            return True
        if any(value.encode("utf-8", "replace") in data for value in self._plain):
            return True
        return any(fragment.encode() in data for fragment in self.fragments)

    def holds(self, data: bytes) -> bool:
        """Whether a value that is masked wherever it stands, stands in these bytes."""
        return self.data(data) != data

    def data(self, data: bytes) -> bytes:
        """Bytes of a text or of JSON with the values masked, in every spelling; whole words of JSON, also of a vector's
        recipe, where it is broken too. All other bytes are as they were.
        """
        for form, instead in self._forms:
            data = data.replace(form, instead)
        if b"\\" in data:
            data = _STRING.sub(self._string, data)
        return self._basis.sub(rb"\1masked\2", data) if self._basis is not None else data

    def _string(self, found: re.Match[bytes]) -> bytes:
        try:
            text = json.loads(found[0])
        except ValueError:
            return found[0]
        changed = self.text(text)
        return found[0] if changed == text else json.dumps(changed).encode()

    @cached_property
    def _forms(self) -> tuple[tuple[bytes, bytes], ...]:
        found: dict[bytes, bytes] = {}
        for value, kind in self._kinds.items():
            if value not in self._plain:
                for form, encoding in _spellings(value):
                    found.setdefault(form, mask(kind).encode(encoding))
        return tuple(sorted(found.items(), key=lambda item: -len(item[0])))

    @cached_property
    def _basis(self) -> re.Pattern[bytes] | None:
        if not self.fragments:
            return None
        words = b"|".join(re.escape(word.encode()) for word in sorted(self.fragments, key=len, reverse=True))
        return re.compile(rb'("(?:title|content|tag):)(?:' + words + rb')(")')


def is_distinctive(value: str) -> bool:
    """Whether a value means itself wherever it stands: no word, no short number, not a few signs."""
    if len(value) < _LEAST or value.isalpha():
        return False
    return not value.isdigit() or len(value) >= _LEAST_DIGITS


def _spellings(value: str) -> Iterator[tuple[bytes, str]]:
    escaped, ascii_only = json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]
    marked = re.sub(r"([\\*`<])", r"\\\1", value)
    for text in (
        value,
        escaped,
        ascii_only,
        ascii_only.replace("/", "\\/"),
        marked,
        value.replace("\n", "\r\n"),
    ):
        yield text.encode("utf-8", "surrogatepass"), "utf-8"
    for encoding in ("utf-16-le", "utf-16-be"):
        yield value.encode(encoding, "surrogatepass"), encoding
