"""Masks: credentials and their placeholders, applied to texts, notes, facts, change sets and bytes.

A value is found in each spelling that a file may have for it: as it is, escaped as JSON or Markdown has it, in either
case of the hexadecimal digits, JSON within JSON, composed or decomposed, with letters in it that nobody sees, wrapped
over lines, in base64, in UTF-16, in lower case as tags have it, and with signs percent-encoded as URLs have them.
Hexadecimal, encryption and what somebody made of it by hand are not looked for.
"""

from __future__ import annotations

import binascii
import html
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from core.model.change import Author, ChangeSet, FactChange, FileChange, NoteChange
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, Page, normalise_tag, replace, vector_spec
from core.model.secrets import Held
from core.text.mask import MASK, mask
from core.text.secrets import find_secrets
from core.text.spellings import (
    TextLayer,
    beneath,
    layers,
    unescaped,
    visible_text,
    without_breaks,
    without_invisible,
)
from core.text.tokens import basis_tokens

_MASKED_TAG: Final = "masked"
_LEAST: Final = 5
_LEAST_DIGITS: Final = 10
_LEAST_LINE: Final = 32
_LEAST_TOKEN: Final = 4
_LEAST_LOWER: Final = 8
# Shorter ones would be found where one line ends and another begins by chance.
_LEAST_BROKEN: Final = 8
# What was masked is looked through again: a value may lie in another spelling of another value.
_ROUNDS: Final = 4
# Base64 within base64 within base64.
_DEEPEST: Final = 3
_DEEPEST_JSON: Final = 8
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# How many strings before it a key or a title stands in a file that cannot be read.
_KEYS_BEFORE: Final = 8
_SPACE: Final = re.compile(r"\s+")
_SPACES: Final = re.compile(r"(\s+)")
_WORD: Final = re.compile(r"[^\W_]+")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_STANDARD: Final = str.maketrans("-_", "+/")
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
# A letter of a word in a vector's recipe.
_TOKEN: Final = "[a-z0-9/_:-]"
_NUMBER: Final = frozenset("0123456789+-.eE")
# Escapes of letters and digits, and letters that nobody sees: what may tear any word apart.
_DISGUISED: Final = re.compile(
    rb"\\u00[3-7]|\\U000|\\u(?:00[aA][dD]|03|06|18|20|[fF][eE])|\xc2\xad|\xcd\x8f|\xd8\x9c|\xe1\xa0|\xe2\x80[\x8b-\xae]"
    rb"|\xe2\x81[\xa0-\xaf]|\xef\xb8|\xef\xbb\xbf"
)


class _Found(NamedTuple):
    """A value in a text: where, and what is put in its place."""

    start: int
    end: int
    instead: str


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
        forms: dict[str, str] = {}
        for value, kind in self._kinds.items():
            for form in _forms(value):
                forms.setdefault(form, kind)
        self._plain = {form: kind for form, kind in forms.items() if not is_distinctive(form)}
        told = {form: kind for form, kind in forms.items() if form not in self._plain}
        self._forms = dict(sorted(told.items(), key=lambda item: -len(item[0])))
        self.fragments = frozenset(
            token for value in forms for token in basis_tokens(value) if len(token) >= _LEAST_TOKEN
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
        if not self.may_hold(_encoded(text)):
            return text
        return self._in_context("", self._everywhere(text))[1]

    def _in_context(self, title: str, text: str) -> tuple[str, str]:
        if not self._plain or not self.may_hold(_encoded(f"{title}: {text}")):
            return title, text
        whole = f"{title}: {text}" if title else text
        start = len(whole) - len(text)
        for secret in reversed(find_secrets(whole)):
            kind = self._plain_kind(whole[secret.start : secret.end])
            if kind and (secret.start >= start or secret.end <= len(title)):
                whole = whole[: secret.start] + mask(kind) + whole[secret.end :]
                if secret.end <= len(title):
                    start += len(mask(kind)) - (secret.end - secret.start)
        return whole[: max(0, start - 2)], whole[start:]

    def _plain_kind(self, value: str) -> str:
        """The kind of a word or short number that is masked in context alone; "" for any other text."""
        return next((self._plain[form] for form in _forms(value) if form in self._plain), "")

    def name(self, name: str) -> str:
        """A name with the values masked, of which it may be one: a word, too."""
        kind = self._plain_kind(name)
        return mask(kind) if kind else self.text(name)

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

    # Where the values stand

    def _everywhere(self, text: str, *, in_file: bool = False, depth: int = 0) -> str:
        """A text with the values that stand for themselves masked, in every spelling.

        in_file: the text is a file's, so that no escape of it may be cut in two and no number become a word.
        """
        for _ in range(_ROUNDS):
            # Strings of JSON first, read as such: what is left then is broken, or no JSON.
            found = self._in_strings(text) or self._spans(text, in_file=in_file)
            parts, place = [], 0
            for one in found:
                parts += [text[place : one.start], one.instead]
                place = one.end
            told = "".join(parts) + text[place:] if found else text
            if depth < _DEEPEST and any(piece in _encoded(told) for piece in self._base64_anchors):
                told = _BASE64.sub(lambda run: self._base64(run[0], depth), told)
            if told == text:
                break
            text = told
        return text

    def _in_strings(self, text: str, depth: int = 0) -> list[_Found]:
        """The values in the strings of JSON that a text holds, and in JSON in these; in order and apart."""
        found: list[_Found] = []
        for string in _STRING.finditer(text) if '"' in text and depth < _DEEPEST_JSON else ():
            start, end = string.start() + 1, string.end() - 1
            inside = text[start:end]
            view = unescaped(inside)
            said = inside if view is None else view.text
            for one in (*self._matches(said), *self._in_strings(said, depth + 1)):
                span = (one.start, one.end) if view is None else view.span(one.start, one.end)
                found.append(_Found(start + span[0], start + span[1], one.instead))
        return _apart(found)

    def _spans(self, text: str, *, in_file: bool) -> list[_Found]:
        """The values in a text, in order and apart from each other."""
        views = (*layers(text),)[-1]
        known: list[_Found] = []
        for depth in range(len(views) + 1):
            below = views[:depth]
            edges = views[depth] if in_file and depth < len(views) else None
            new: list[_Found] = []
            for start, end, instead in self._matches(below[-1].text if below else text):
                span = beneath(below, (start, end)) if below else (start, end)
                if _covered(known, *_without_backslashes(text, *span)):
                    continue
                if edges is not None:
                    whole = beneath(below, edges.whole(start, end)) if below else edges.whole(start, end)
                    # A string ends there, or begins: it is none of its escapes.
                    if '"' not in (text[whole[0] : span[0]][-1:], text[span[1] : whole[1]][:1]):
                        span = whole
                number = _number_around(text, *span) if in_file and not below else None
                new.append(_Found(*number, "0") if number is not None else _Found(*span, instead))
            known = _apart([*known, *new])
        return known

    def _matches(self, text: str) -> Iterator[_Found]:
        """The values as they stand in one layer of a text, masks of former times left alone."""
        masked = [_Found(*found.span(), "") for found in MASK.finditer(text)] if "[masked: " in text else []
        visible = without_invisible(text)
        below: tuple[TextLayer, ...] = () if visible is None else (visible,)
        shown = text if visible is None else visible.text
        joined = without_breaks(shown) if self._broken is not None else None
        looked: list[tuple[re.Pattern[str] | None, str, tuple[TextLayer, ...]]] = [
            (self._pattern, shown, below)
        ]
        if joined is not None:
            looked.append((self._broken, joined.text, (*below, joined)))
        for pattern, where, views in looked:
            for found in pattern.finditer(where) if pattern is not None else ():
                start, end = beneath(views, found.span()) if views else found.span()
                if not _covered(masked, start, end):
                    yield _Found(start, end, mask(self._groups[found.lastindex or 0]))
        for found in self._basis.finditer(shown) if self._basis is not None else ():
            start, end = beneath(below, found.span(1)) if below else found.span(1)
            if found[1] != _MASKED_TAG:
                yield _Found(start, end, _MASKED_TAG)

    def _base64(self, run: str, depth: int) -> str:
        """A run of letters that may be base64, with what it says masked; the same when it says no value."""
        signs = run.rstrip("=")
        plain = signs.translate(_STANDARD)
        for offset in range(4):
            usable = len(plain) - offset - ((len(plain) - offset) % 4 == 1)
            piece = plain[offset : offset + usable]
            data = binascii.a2b_base64(piece + "=" * (-len(piece) % 4))
            said = data.decode("utf-8", "surrogateescape")
            told = self._everywhere(said, in_file=True, depth=depth + 1)
            if told != said:
                new = binascii.b2a_base64(told.encode("utf-8", "surrogateescape"), newline=False).decode()
                if "-" in signs or "_" in signs:
                    new = new.replace("+", "-").replace("/", "_")
                return signs[:offset] + new
        return run

    @cached_property
    def _groups(self) -> list[str]:
        """The kind of each group of the patterns; groups count from 1."""
        return ["", *self._forms.values()]

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        bodies = [_pattern_of(form, r"(?:\s+|%(?:25)*20|\+)") for form in self._forms]
        return re.compile("|".join(f"({body})" for body in bodies)) if bodies else None

    @cached_property
    def _broken(self) -> re.Pattern[str] | None:
        """The values that are looked for in joined lines; the other groups match nothing."""
        usable = [len(form) >= _LEAST_BROKEN and not _SPACE.search(form) for form in self._forms]
        bodies = [
            _pattern_of(form, "") if may else r"(?!)" for form, may in zip(self._forms, usable, strict=True)
        ]
        return re.compile("|".join(f"({body})" for body in bodies)) if any(usable) else None

    @cached_property
    def _basis(self) -> re.Pattern[str] | None:
        words = [re.escape(word) for word in sorted(self.fragments, key=len, reverse=True)]
        words += [f"{_TOKEN}*{re.escape(piece)}{_TOKEN}*" for piece in self._base64_in_lower_case]
        return re.compile(rf'"(?:title|content|tag):({"|".join(words)})"') if words else None

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
            page=self._page(note.page),
            extra=self.value(note.extra),
        )
        told = any(part.partition(":")[2] in self.fragments for part in note.vector.basis)
        if changed == note and not told:
            return note
        return replace(changed, vector=vector_spec(changed))

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def _page(self, page: Page | None) -> Page | None:
        if page is None:
            return None
        line = self._optional(page.line)
        return msgspec.structs.replace(page, text=self.text(page.text), line=line)

    def _tag(self, tag: str) -> str:
        return tag if self.text(tag) == tag else _MASKED_TAG

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
        anchors, blind, strange = self._anchors
        if blind or any(anchor in data for anchor in anchors) or _DISGUISED.search(data):
            return True
        if strange and (b"\\u" in data or b"%" in data):
            return True
        if b"\0" in data and (strange or any(anchor in data.replace(b"\0", b"") for anchor in anchors)):
            return True
        if any(anchor in data for anchor in self._base64_anchors):
            return True
        return any(piece.encode() in data for piece in self._base64_in_lower_case)

    @cached_property
    def _anchors(self) -> tuple[tuple[bytes, ...], bool, bool]:
        """Words of which one stands in all that holds a value, unless it is disguised. blind: some value has no such
        word. strange: some word has other letters than those of ASCII, which may be escaped.
        """
        words: set[str] = set(self.fragments)
        for form in (*self._forms, *self._plain):
            # A line may end anywhere within it, but for three times at most.
            parts = 4 if len(form) >= 2 * _LEAST_BROKEN else 2 if len(form) >= _LEAST_BROKEN else 1
            size = -(-len(form) // parts)
            pieces = (form[start : start + size] for start in range(0, len(form), size))
            words.update(max(_WORD.findall(piece), key=len, default="") for piece in pieces)
        anchors = tuple(_encoded(word) for word in words if word)
        return anchors, "" in words, any(not word.isascii() for word in words)

    @cached_property
    def _base64_anchors(self) -> tuple[bytes, ...]:
        """What stands in base64 that says a value, as in `_anchors`."""
        words = {max(_WORD.findall(form), key=len, default="") for form in self._forms}
        return tuple({piece for word in words for piece in _base64_of(word)})

    @cached_property
    def _base64_in_lower_case(self) -> tuple[str, ...]:
        """What of it stands in the recipe of a vector, whose words are in lower case."""
        runs = (re.findall(f"{_TOKEN}+", anchor.decode().lower()) for anchor in self._base64_anchors)
        longest = (max(found, key=len, default="") for found in runs)
        return tuple({run for run in longest if len(run) >= _LEAST_BROKEN})

    def holds(self, data: bytes) -> bool:
        """Whether a value that is masked wherever it stands, stands in these bytes."""
        return self.data(data) != data

    def data(self, data: bytes) -> bytes:
        """Bytes of a text or of JSON with the values masked, in every spelling; whole words of JSON, also of a vector's
        recipe, where it is broken too. All other bytes are as they were.
        """
        if not self.may_hold(data):
            return data
        text = data.decode("utf-8", "surrogateescape")
        told = self._strings(self._everywhere(text, in_file=True))
        return self._wide(data if told == text else told.encode("utf-8", "surrogateescape"))

    def json(self, data: bytes) -> bytes:
        """As `data`, of a value of JSON: what is sound stays so."""
        told = self.data(data)
        if told == data or _is_json(told) or not _is_json(data):
            return told
        # A value that looks like JSON itself stood across its strings.
        return json.dumps(self.value(json.loads(data.decode("utf-8", "surrogateescape")))).encode()

    def blanked(self, data: bytes) -> bytes:
        """Bytes of no text, such as a damaged database, with the values written over by as many stars."""
        if not self.may_hold(data):
            return data
        text = data.decode("utf-8", "surrogateescape")
        parts, place = [], 0
        for start, end, _ in self._spans(text, in_file=False):
            size = len(text[start:end].encode("utf-8", "surrogateescape"))
            parts += [text[place:start], "*" * size]
            place = end
        return "".join([*parts, text[place:]]).encode("utf-8", "surrogateescape") if parts else data

    def stands_in(self, data: bytes) -> bool:
        """Whether a value that stands for itself stands in bytes of any kind as a file would have it; quick, and
        without a look through layers of escapes.
        """
        return any(form in data for form in self._spelled)

    @cached_property
    def _spelled(self) -> tuple[bytes, ...]:
        found: dict[bytes, None] = {}
        for form in self._forms:
            texts = {form}
            for _ in range(2):
                texts |= {
                    json.dumps(text, ensure_ascii=only)[1:-1] for text in texts for only in (True, False)
                }
            found.update((_encoded(text), None) for text in texts)
            found.update((form.encode(wide, "surrogatepass"), None) for wide in ("utf-16-le", "utf-16-be"))
            found.update((quote(_encoded(form), safe=safe).encode(), None) for safe in ("", "/"))
        return tuple(found)

    def _strings(self, text: str) -> str:
        """JSON, sound or broken, with words and short numbers masked where they look like a credential."""
        if not self._plain:
            return text
        before: list[str] = []

        def told(found: re.Match[str]) -> str:
            try:
                said = json.loads(found[0])
            except ValueError:
                return found[0]
            changed = self._in_context("", said)[1]
            if changed == said and self._plain_kind(said):
                changed = next(
                    (new for key in before if (new := self._in_context(key, said)[1]) != said), said
                )
            before[:] = [*before, said][-_KEYS_BEFORE:]
            return found[0] if changed == said else json.dumps(changed)

        return _STRING.sub(told, text)

    def _wide(self, data: bytes) -> bytes:
        """Bytes in which a value may stand in UTF-16."""
        if b"\0" not in data:
            return data
        for form, kind in self._forms.items():
            for text in (form, json.dumps(form, ensure_ascii=False)[1:-1], json.dumps(form)[1:-1]):
                for encoding in ("utf-16-le", "utf-16-be"):
                    data = data.replace(text.encode(encoding, "surrogatepass"), mask(kind).encode(encoding))
        return data


def is_distinctive(value: str) -> bool:
    """Whether a value means itself wherever it stands: no word, no short number, not a few signs."""
    if len(value) < _LEAST or value.isalpha():
        return False
    return not value.isdigit() or len(value) >= _LEAST_DIGITS


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return False
    return True


def _forms(value: str) -> tuple[str, ...]:
    """A value as people may mean it: as it stands, and what it says where it is spelled as JSON, XML or Unicode may."""
    said = [views[-1].text for views in layers(value) if views]
    addressed = unquote(value) if "%" in value else value
    said += [addressed] if "\ufffd" not in addressed else []
    forms = [*map(visible_text, (value, *said, html.unescape(value)))]
    if _SPACE.search(value):
        # It was found in two lines, and is one word.
        forms.append(_SPACE.sub("", value))
    forms += [
        unicodedata.normalize(form, each) for form in ("NFC", "NFD") for each in forms if not each.isascii()
    ]
    forms += [
        low for each in forms if len(each) >= _LEAST_LOWER for low in (each.lower(), normalise_tag(each))
    ]
    return tuple(dict.fromkeys(form for form in forms if form.strip()))


def _pattern_of(form: str, space: str) -> str:
    """A pattern for a form, each of its signs as it is or percent-encoded. space: the pattern for white space in it."""
    return "".join(
        space if part.isspace() else "".join(map(_sign, part)) for part in _SPACES.split(form) if part
    )


def _sign(character: str) -> str:
    plain = re.escape(character)
    if character.isascii() and character.isalnum():
        return plain
    # A URL within a URL has its percent signs encoded again.
    codes = "".join(f"%(?:25)*(?i:{byte:02x})" for byte in _encoded(character))
    return f"(?:{plain}|{codes})"


def _base64_of(word: str) -> Iterator[bytes]:
    """What surely stands in the base64 of anything that holds a word, by where the word begins in it."""
    data = _encoded(word)
    for before in range(3):
        signs = binascii.b2a_base64(bytes(before) + data, newline=False)
        inside = signs[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield inside
        yield inside.translate(_URL_SAFE)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _covered(known: list[_Found], start: int, end: int) -> bool:
    """Whether a span lies within one of these, which are in order and apart."""
    place = bisect_right(known, start, key=lambda one: one.start) - 1
    return place >= 0 and known[place].end >= end


def _without_backslashes(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the backslashes at its beginning, which may as well belong to what stands before it."""
    inside = text[start:end].lstrip("\\")
    return (end - len(inside), end) if inside else (start, end)


def _apart(found: list[_Found]) -> list[_Found]:
    """Spans in order; those that overlap as one, with what the first one says."""
    told: list[_Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if told and one.start < told[-1].end:
            told[-1] = told[-1]._replace(end=max(told[-1].end, one.end))
        else:
            told.append(one)
    return told


def _number_around(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The number of JSON that a span lies in, which no word may take the place of; None for any other span."""
    while start > 0 and text[start - 1] in _NUMBER:
        start -= 1
    while end < len(text) and text[end] in _NUMBER:
        end += 1
    if not _NUMBER.issuperset(text[start:end]):
        return None
    before, after = text[max(0, start - 40) : start].rstrip(" \t\r\n"), text[end : end + 40].lstrip(" \t\r\n")
    return (start, end) if before.endswith(('":', "[", ",")) and after.startswith((",", "}", "]")) else None
