"""Notes of one's own proposed for the team's folder: screened, shown as files, written as one change.

Nothing is committed. What should not get into a repository that others read, credentials and paths of one's home
folder, is found first. Which own note a page came from stands in the memory's home on this machine, never in the page.
"""

from __future__ import annotations

import getpass
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from core.errors import InvalidInputError
from core.graph.edits import create_note, edit_note, link_notes
from core.memory import Memory
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.infer import MetaInput, subject_of
from core.model.names import counted
from core.model.note import METADATA_FIELDS, Note, custom_tags, replace
from core.model.snapshot import Snapshot
from core.text.secrets import find_secrets

# A field of the team's note in the memory's home: the own note that it came from, and what was shared of it.
_SHARED: Final = "nuggets-tui.shared"
_NAME: Final = r"[^\W\d][\w.-]*"
_HOMES: Final = (
    # /home/ada, /Users/ada, /root, and the same behind file:// or a drive of Windows.
    re.compile(rf"(?<![\w.-])(?:/mnt)?(?:/[a-z])?/(?:home|Users)/{_NAME}"),
    re.compile(r"(?<![\w./-])/root(?=/)"),
    re.compile(rf"(?<!\w)[a-z]:[\\/]+users[\\/]+{_NAME}", re.IGNORECASE),
    re.compile(r"(?<![\w~/.-])~(?:[\w.-]+)?[\\/](?=[\w.])"),
)
# The name of a machine's one user says nothing of anybody.
_NOBODY: Final = ("root", "user", "home", "runner", "node")
_SHOWN: Final = 60
_OF_ITS_OWNER: Final = ("self", "user", "session")


class Found(NamedTuple):
    """Something to look at before a text is shared. kind: "credential" or "home". line: where, from 1. what: the kind
    of the credential, or the path.
    """

    kind: str
    line: int
    what: str


class Refused(NamedTuple):
    """A note that is not shared. code: "credential", "hidden" or "changed-there". found: the credentials in it. where:
    the file that was changed there.
    """

    id: str
    title: str
    code: str
    found: tuple[Found, ...] = ()
    where: str = ""


class SharedFile(NamedTuple):
    """A file as it will be. before: what it says now, None for a new one. note: the own note. homes: paths of a home
    folder in it, which a person should look at.
    """

    note: str
    title: str
    file: str
    before: str | None
    after: str
    homes: tuple[Found, ...] = ()


class LinkLeftOut(NamedTuple):
    """A link to a note that is not shared, by titles."""

    title: str
    to: str


@dataclass(frozen=True)
class SharePlan:
    """What sharing would do. same: titles of notes of which everything is there already."""

    change_set: ChangeSet | None
    files: tuple[SharedFile, ...] = ()
    refused: tuple[Refused, ...] = ()
    left_out: tuple[LinkLeftOut, ...] = ()
    same: tuple[str, ...] = ()


def shared_from(note: Note) -> str:
    """The id of the own note that a team's note was shared from on this machine; "" for none."""
    said = note.extra.get(_SHARED)
    id = said.get("id") if isinstance(said, dict) else None
    return id if isinstance(id, str) else ""


def plan_share(
    own: Memory, team: Memory, notes: Sequence[Note], *, home: str = "", user: str | None = None
) -> SharePlan:
    """What sharing notes of one's own memory with the team would do; nothing is written.

    home, user: of this machine, to find paths of it. Raises InvalidInputError where both memories
    are one.
    """
    if own.home == team.home:
        raise InvalidInputError(
            "these notes are the team's already", where=str(team.folder),
            kept="nothing was written", todo="name your own memory with --home",
        )  # fmt: skip
    home = home or _home()
    user = _user() if user is None else user
    known = {shared_from(note): note for note in team.snapshot.notes if shared_from(note)}
    wanted, refused = [], []
    homes: dict[str, tuple[Found, ...]] = {}
    for note in {note.id: note for note in notes}.values():
        there = known.get(note.id)
        found = _found_in(note, home, user)
        homes[note.id] = tuple(one for one in found if one.kind == "home")
        credentials = tuple(one for one in found if one.kind == "credential")
        if note.hidden or credentials:
            code = "hidden" if note.hidden else "credential"
            refused.append(Refused(note.id, note.title, code, () if note.hidden else credentials))
        elif there is not None and _digest(there) not in (_digest(note), _shared_digest(there)):
            file = there.page.file if there.page is not None else there.title
            refused.append(Refused(note.id, note.title, "changed-there", where=file))
        else:
            wanted.append(note)
    draft = team.draft()
    ids = _written(draft, own.snapshot, wanted, known)
    left_out = _linked(draft, own.snapshot, wanted, ids)
    change_set = draft.change_set(_reason(wanted), author=team.author)
    changed = {change.id for change in change_set.notes}
    same = tuple(note.title for note in wanted if ids[note.id] not in changed)
    if change_set.empty:
        return SharePlan(None, (), tuple(refused), tuple(left_out), same)
    own_ids = {id: own_id for own_id, id in ids.items()}
    files = tuple(
        SharedFile(id, one.note.title, one.name, one.before, one.after, homes.get(id, ()))
        for one in team.page_preview(change_set)
        if one.after is not None
        for id in [own_ids.get(one.note.id, "")]
    )
    return SharePlan(change_set, files, tuple(refused), tuple(left_out), same)


def share(team: Memory, plan: SharePlan) -> ChangeSet | None:
    """Writes what was planned into the work tree. Raises InvalidInputError for a plan that refuses a note; errors as
    `Memory.apply`.
    """
    if plan.refused:
        raise InvalidInputError(
            "; ".join(refusal_text(one) for one in plan.refused),
            kept="nothing was written",
            todo="change what it says and share again",
        )
    return team.apply(plan.change_set) if plan.change_set is not None else None


def refusal_text(refused: Refused) -> str:
    """Why a note is not shared, in words. A credential is never shown."""
    said = {
        "hidden": "it is hidden",
        "changed-there": f"the team's {refused.where} was changed since you shared it",
    }
    found = ", ".join(
        f"line {one.line} looks like it holds a credential ({one.what})" for one in refused.found
    )
    return f"{refused.title!r} is not shared: {said.get(refused.code, found)}"


def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:
        return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _found_in(note: Note, home: str, user: str) -> list[Found]:
    # The lines are those of the text; what stands beside it is on none.
    found = screened(note.content, home=home, user=user)
    reasons = [link.reason for link in note.links]
    beside = "\n".join([note.title, note.source_key or "", note.subject, *custom_tags(note), *reasons])
    found += [one._replace(line=0) for one in screened(beside, home=home, user=user)]
    if all(one.kind == "home" for one in found):
        # A key and its value are a credential together, as in "password" and "hunter2".
        pair = screened(f"{note.key}: {note.content}")
        found += [one._replace(line=1) for one in pair if one.kind == "credential"]
    return list(dict.fromkeys(found))


def _digest(note: Note) -> str:
    said = repr((note.title, note.content, sorted({*custom_tags(note)} - {"team"})))
    return hashlib.blake2b(said.encode(errors="replace"), digest_size=8).hexdigest()


def _shared_digest(there: Note) -> str:
    said = there.extra.get(_SHARED)
    return str(said.get("said", "")) if isinstance(said, dict) else ""


def _written(draft: Draft, own: Snapshot, wanted: Sequence[Note], known: dict[str, Note]) -> dict[str, str]:
    """Lays the notes over the draft. Returns the id that each has there, those shared before among them."""
    ids = {own_id: there.id for own_id, there in known.items() if own_id in own.by_id}
    for note in wanted:
        there = known.get(note.id)
        meta = _said_to_the_team(note)
        tags = [tag for tag in custom_tags(note) if tag != "team"]
        if there is not None and _digest(note) == _digest(there) and not there.hidden:
            continue
        if there is None:
            made = create_note(draft, "", note.title, note.content, tags=tags, meta=meta)
        else:
            made = edit_note(draft, there.id, title=note.title, content=note.content, tags=tags, meta=meta)
        key = note.key if note.is_fact else None
        made = replace(made, source_key=key, hidden=False, archived_at=None)
        made = draft.put(
            replace(made, tags=(*tags, *(tag for tag in made.tags if tag not in custom_tags(made))))
        )
        kept = {"id": note.id, "said": _digest(made)}
        draft.put(replace(made, extra={**made.extra, _SHARED: kept}))
        ids[note.id] = made.id
    return ids


def _said_to_the_team(note: Note) -> MetaInput:
    """A note's metadata. What is about its owner as a rule, as a note that names nobody is, is about the team there."""
    said = {name: getattr(note, name) for name in METADATA_FIELDS}
    if note.scope in _OF_ITS_OWNER and note.subject == subject_of(note.scope):
        said |= {"scope": "shared", "subject": subject_of("shared")}
    return MetaInput(**said)


def _linked(draft: Draft, own: Snapshot, wanted: Sequence[Note], ids: dict[str, str]) -> list[LinkLeftOut]:
    """Links the notes in the draft as they are in the own memory. Returns what is left out."""
    left_out: list[LinkLeftOut] = []
    for note in wanted:
        for link in note.links:
            target = own.by_id.get(link.to)
            if target is None or target.hidden:
                continue
            if link.to not in ids:
                left_out.append(LinkLeftOut(note.title, target.title))
                continue
            here = draft.note(ids[note.id])
            if here is not None and (ids[link.to], link.reason) not in [
                (one.to, one.reason) for one in here.links
            ]:
                link_notes(draft, here.id, ids[link.to], link.reason)
    return list(dict.fromkeys(left_out))


def _reason(wanted: Sequence[Note]) -> str:
    titles = ", ".join(f'"{note.title}"' for note in wanted[:3])
    return f"shared {titles}" if len(wanted) <= 3 else f"shared {counted(len(wanted), 'note', 'notes')}"


def screened(text: str, *, home: str = "", user: str = "") -> list[Found]:
    """What to look at before a text is shared. home, user: the home folder and the user name of this machine."""
    found = [Found("credential", _line(text, one.start), one.kind) for one in find_secrets(text)]
    patterns = list(_HOMES)
    if len(home.strip("/\\")) > 1:
        patterns.append(re.compile(rf"{re.escape(home.rstrip('/'))}(?![\w.-])"))
    if len(user) > 1 and user.lower() not in _NOBODY:
        patterns.append(re.compile(rf"[\\/]{re.escape(user)}(?![\w.-])", re.IGNORECASE))
    spans: dict[int, Found] = {}
    for pattern in patterns:
        for match in pattern.finditer(text):
            line = _line(text, match.start())
            spans.setdefault(line, Found("home", line, match[0][:_SHOWN]))
    return [*found, *(spans[line] for line in sorted(spans))]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
