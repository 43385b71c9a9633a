"""Builds a sound note graph or fact file from what is left of a broken one and from the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.folder import GRAPH_FILE
from core.model.fact import NuggetMeta
from core.settings import InferenceSettings
from core.storage.format.documents import (
    GRAPH_VERSION,
    GraphDocument,
    NuggetDocument,
    new_nugget,
    nugget_of_file,
)
from core.storage.format.json_text import JsonError, dump, load
from core.storage.recovery.salvage import Salvaged, salvage_facts, salvage_graph


def repaired_graph(data: bytes, last_seen: Mapping[str, bytes], rules: InferenceSettings) -> list[bytes]:
    """A sound graph.json, in parts, of what can be read of a broken one and the notes that are missing in it.

    last_seen: bytes of each note by its id, as the file held them when it was last sound, in order. A note that can
    be read in the file wins over them, and they over one that is whole but cannot be understood.
    """
    salvaged = salvage_graph(data, rules)
    raws = _woven(salvaged, last_seen)
    version = salvaged.fields.get("version", b"")
    fields = {"version": version if _is_number(version) else dump(GRAPH_VERSION)}
    fields |= {name: value for name, value in salvaged.fields.items() if name != "version"}
    fields.setdefault("notes", b"[]")
    return GraphDocument(path=GRAPH_FILE, fields=fields, raws=tuple(raws)).to_parts()


def repaired_nugget(
    file_name: str, data: bytes, last_seen: Mapping[str, bytes], former: NuggetMeta | None = None
) -> list[bytes]:
    """A sound fact file, in parts, as `mended_graph`; last_seen: bytes of each fact by its key.

    former: the nugget's settings as they were last seen, for those that cannot be read; else a new nugget's.
    """
    salvaged = salvage_facts(data)
    path = Path(file_name)
    held = new_nugget(path, former or NuggetMeta(name=nugget_of_file(path.name)))
    kinds = {setting.name: setting.type for setting in msgspec.structs.fields(NuggetMeta)}
    legible = {
        name: value
        for name, value in salvaged.fields.items()
        if name not in kinds or _is_of_kind(value, kinds[name])
    }
    fields = {name: legible.get(name, value) for name, value in held.fields.items()} | legible
    raws = tuple(_woven(salvaged, last_seen))
    return NuggetDocument(path, None, fields, raws, (), held.meta).to_parts()


def _woven(salvaged: Salvaged, last_seen: Mapping[str, bytes]) -> list[bytes]:
    """The salvaged items with the missing ones among them, each behind the one that it last stood behind."""
    sound = {piece.id for piece in salvaged.pieces if piece.sound}
    following: dict[str | None, list[bytes]] = {}
    put_back: set[str] = set()
    before: str | None = None
    for id, raw in last_seen.items():
        if id in sound:
            before = id
        elif _is_json(raw):
            following.setdefault(before, []).append(raw)
            put_back.add(id)
    raws = following.pop(None, [])
    for piece in salvaged.pieces:
        if piece.sound or piece.id not in put_back:
            raws.append(piece.raw)
        raws += following.pop(piece.id, []) if piece.sound else []
    return raws


def _is_json(raw: bytes) -> bool:
    try:
        return isinstance(load(raw), dict)
    except JsonError:
        return False


def _is_number(value: bytes) -> bool:
    return _is_of_kind(value, int | float)


def _is_of_kind(value: bytes, kind: object) -> bool:
    try:
        msgspec.json.decode(value, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True
