"""Masks: credentials and their placeholders, applied to texts, notes, facts, change sets and bytes.

A value is found as it stands, escaped as JSON has it (JSON within JSON, too), percent-encoded as URLs have it, and in
lower case as tags and words for searching have it. Base64 and other disguises are not looked for.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar
from urllib.parse import quote, quote_plus, unquote

from msgspec.structs import replace as replace_fields

from core.model.change import Author, ChangeSet, FactChange, FileChange, NoteChange
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, normalise_tag, replace, vector_spec
from core.model.secrets import Held
from core.text.exact import basis_tokens, encodable
from core.text.mask import MASK, mask
from core.text.secrets import find_secrets

_MASKED_TAG: Final = "masked"
_LEAST, _LEAST_DIGITS, _LEAST_TOKEN = 5, 10, 4
# A shorter line of a private key, or a shorter value in lower case, may be anybody's word.
_LEAST_LINE, _LEAST_LOWER = 32, 8
# JSON in a string of JSON in a string of a file's JSON.
_JSON_LAYERS: Final = 3
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# How many strings before it a key or a title stands in a file that cannot be read.
_KEYS_BEFORE: Final = 8
_PLAIN_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_MASKS: Final = re.compile(f"({MASK.pattern})")
# A letter or digit that somebody escaped without need.
_ESCAPED: Final = re.compile(rb"\\u00[3-7]")
# What a URL may keep as it is: nothing, what Python's quote and JavaScript's two ways of encoding leave.
_URL_SAFE: Final = ("", "/", "!'()*", ";,/?:@&=+$!*'()#")
_PERCENT: Final = re.compile(r"%[0-9A-F]{2}")
_Fact = TypeVar("_Fact", Fact, HiddenFact)
_Change = TypeVar("_Change", NoteChange, FactChange, FileChange)


class Masks:
    """What is masked. Values that stand for themselves are masked wherever they stand; words and short numbers, which
    other texts may hold with another meaning, only where they look like a credential.
    """

    def __init__(self, held: Iterable[Held]) -> None:
        values: dict[str, str] = {}
        for one in held:
            values.setdefault(one.value, one.kind)
            for line in map(str.strip, one.value.splitlines()):
                if len(line) >= _LEAST_LINE:
                    values.setdefault(line, one.kind)
        self._words: dict[str, str] = {}
        spelled: dict[str, str] = {}
        anchors, tokens = set[bytes](), set[str]()
        for form, kind in ((form, kind) for value, kind in values.items() for form in _forms(value)):
            # Every spelling leaves plain letters and digits as they are: this stands in all that holds the value.
            anchors.add(max(_PLAIN_RUN.findall(form), key=len, default="").encode())
            if is_distinctive(form):
                spelled |= {each: kind for each in _spellings(form) if each not in spelled}
                tokens |= set(basis_tokens(form))
            else:
                self._words.setdefault(form, kind)
        self._anchors = tuple(anchors)
        self._tokens = frozenset(token for token in tokens if len(token) >= _LEAST_TOKEN)
        # The longest first: of two escapes of one backslash the longer one is whole.
        self._spelled = dict(sorted(spelled.items(), key=lambda item: -len(item[0])))

    def __bool__(self) -> bool:
        return bool(self._spelled or self._words)

    # Texts

    def text(self, text: str) -> str:
        """A text with the values masked."""
        return self.pair("", text)[1]

    def pair(self, title: str, text: str) -> tuple[str, str]:
        """A title and its text, or a key and its value, with the values masked."""
        if not self.may_hold(_encoded(f"{title}: {text}")):
            return title, text
        return self._in_context(self._everywhere(title), self._everywhere(text))

    def _everywhere(self, text: str) -> str:
        """A text with the values that stand for themselves masked; masks of former times are left alone."""
        for spelling, kind in self._spelled.items():
            if spelling in text:
                parts = _MASKS.split(text)
                parts[::2] = (part.replace(spelling, mask(kind)) for part in parts[::2])
                text = "".join(parts)
        return text

    def _in_context(self, title: str, text: str) -> tuple[str, str]:
        """A title and its text with the words and short numbers masked that look like a credential in them."""
        if not self._words or not self.may_hold(_encoded(f"{title}: {text}")):
            return title, text
        whole = f"{title}: {text}" if title else text
        start = len(whole) - len(text)
        for secret in reversed(find_secrets(whole)):
            kind = self._words.get(whole[secret.start : secret.end])
            if kind and (secret.start >= start or secret.end <= len(title)):
                whole = whole[: secret.start] + mask(kind) + whole[secret.end :]
                if secret.end <= len(title):
                    start += len(mask(kind)) - (secret.end - secret.start)
        return whole[: max(0, start - 2)], whole[start:]

    def name(self, name: str) -> str:
        """A name with the values masked, of which it may be one: a word, too."""
        kind = self._words.get(name)
        return mask(kind) if kind else self.text(name)

    def value(self, value: Any) -> Any:
        """A value of JSON with the texts in it masked; a number that is one of the values becomes 0."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.value(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return 0 if is_number and self._everywhere(str(value)) != str(value) else value

    # Notes, facts, entries

    def note(self, note: Note) -> Note:
        """The note with the values masked, tags and vector's recipe in step; the same note when it holds none."""
        text, page = self.text, note.page
        title, content = self.pair(note.title, note.content)
        links = (
            replace_fields(link, reason=text(link.reason), extra=self.value(link.extra))
            for link in note.links
        )
        if page is not None:
            page = replace_fields(page, text=text(page.text), line=page.line and text(page.line))
        changed = replace(
            note, title=title, content=content,
            source_key=title if note.source_key == note.title else note.source_key and text(note.source_key),
            tags=tuple(dict.fromkeys(tag if text(tag) == tag else _MASKED_TAG for tag in note.tags)),
            links=tuple(links), subject=text(note.subject), last_hit_session=text(note.last_hit_session),
            hidden_fact=note.hidden_fact and self.fact(note.hidden_fact), page=page,
            extra=self.value(note.extra),
        )  # fmt: skip
        stale = any(part.partition(":")[2] in self._tokens for part in note.vector.basis)
        if changed != note or stale:
            changed = replace(changed, vector=vector_spec(changed))
        return note if changed == note else changed

    def fact(self, fact: _Fact) -> _Fact:
        """The fact, visible or hidden, with the values masked; the same one when it holds none."""
        key, value = self.pair(fact.key, fact.value)
        session, extra = self.text(fact.last_hit_session), self.value(fact.extra)
        changed = replace_fields(fact, key=key, value=value, last_hit_session=session, extra=extra)
        return fact if changed == fact else changed

    def change_set(self, change_set: ChangeSet) -> ChangeSet:
        """The change set with the values masked on both sides of each change; the same one when it holds none."""

        def both(change: _Change, masked: Callable[[Any], Any]) -> _Change:
            before, after = (side and masked(side) for side in (change.before, change.after))
            return replace_fields(change, before=before, after=after)

        facts = [(both(change, self.fact), change.key) for change in change_set.facts]
        changed = replace_fields(
            change_set,
            reason=self.text(change_set.reason),
            author=Author(change_set.author.kind, self.text(change_set.author.name)),
            notes=tuple(both(change, self.note) for change in change_set.notes),
            facts=tuple(
                replace_fields(one, key=side.key if (side := one.before or one.after) else self.text(key))
                for one, key in facts
            ),
            files=tuple(both(change, self.data) for change in change_set.files),
        )
        return change_set if changed == change_set else changed

    def conflict(self, conflict: Conflict) -> Conflict:
        """The conflict with the values masked in each of its texts."""
        texts = {name: self.text(getattr(conflict, name)) for name in Conflict.__struct_fields__}
        return replace_fields(conflict, **texts)

    # Bytes

    def may_hold(self, data: bytes) -> bool:
        """Whether bytes may hold a value; quick, and never a false no."""
        return any(anchor in data for anchor in self._anchors) or _ESCAPED.search(data) is not None

    def holds(self, data: bytes) -> bool:
        """Whether `data` would mask something in these bytes."""
        return self.data(data) != data

    def stands_in(self, data: bytes) -> bool:
        """Whether a value that stands for itself stands in bytes of any kind, such as a database's."""
        return self.may_hold(data) and any(_encoded(spelling) in data for spelling in self._spelled)

    def data(self, data: bytes) -> bytes:
        """Bytes of a text or of JSON, sound or broken, with the values masked. All other bytes are as they were; sound
        JSON stays sound.
        """
        if not self.may_hold(data):
            return data
        text = data.decode("utf-8", "surrogateescape")
        told = self._in_strings(self._everywhere(text))
        if self._words and not _is_json(text):
            told = self._in_context("", told)[1]
        if told == text:
            return data
        if not _is_json(told) and _is_json(text):
            # It was a number, or stood across the escapes of a string.
            told = json.dumps(self.value(json.loads(text)))
        return told.encode("utf-8", "surrogateescape")

    def _in_strings(self, text: str, layers: int = _JSON_LAYERS) -> str:
        """JSON, sound or broken, with its strings masked as what they say; words and short numbers where strings before
        them say what they are.
        """
        before: list[str] = []

        def told(found: re.Match[str]) -> str:
            try:
                said = json.loads(found[0])
            except ValueError:
                return found[0]
            changed = self.text(said)
            if "\\" in changed and layers > 1:
                changed = self._in_strings(changed, layers - 1)
            if said in self._words:
                named = (self._in_context(key, said)[1] for key in before)
                changed = next((new for new in named if new != said), said)
            before[:] = [*before, said][-_KEYS_BEFORE:]
            return found[0] if changed == said else json.dumps(changed)

        return _STRING.sub(told, text)


def is_distinctive(value: str) -> bool:
    """Whether a value means itself wherever it stands: no word, no short number, not a few signs."""
    if len(value) < _LEAST or value.isalpha():
        return False
    return not value.isdigit() or len(value) >= _LEAST_DIGITS


def _forms(value: str) -> Iterator[str]:
    """A value as people may mean it: as it was found, what it says where that was JSON or part of a URL, on one line,
    composed, and in lower case.
    """
    said = [value, unquote(value, errors="replace")]
    for _ in range(_JSON_LAYERS):
        try:
            said.append(json.loads(f'"{said[-1]}"', strict=False))
        except ValueError:
            break
    forms = [form for each in said for form in (each, unicodedata.normalize("NFC", " ".join(each.split())))]
    long = [form for form in forms if len(form) >= _LEAST_LOWER]
    forms += [low for form in long for low in (form.lower(), normalise_tag(form))]
    yield from dict.fromkeys(form for form in forms if form.strip())


def _spellings(form: str) -> set[str]:
    """A form as files may spell it: plain, escaped for JSON up to three times over, percent-encoded for a URL."""
    escaped = {form}
    for _ in range(_JSON_LAYERS):
        escaped |= {json.dumps(text, ensure_ascii=only)[1:-1] for text in escaped for only in (True, False)}
    data = _encoded(form)
    encoded = {quote_plus(data), *(quote(data, safe=safe) for safe in _URL_SAFE)}
    return escaped | encoded | {_PERCENT.sub(lambda found: found[0].lower(), text) for text in encoded}


def _encoded(text: str) -> bytes:
    return encodable(text).encode()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
