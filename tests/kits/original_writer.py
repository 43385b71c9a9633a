"""A small model of the original: a program that writes a memory without a lock, from what it read some time ago.

It reads graph.json before each operation on notes, but keeps a nugget's facts in memory for as long as it lives and
saves all of them at each change. It squeezes the white space of every note that it saves. When it loads a nugget it
gives unscoped keys a scope, saves, and makes the notes of facts anew, which moves `updatedAt`.

As a script it is the naive writer that runs beside others:

    python tests/kits/original_writer.py HOME --seconds 20 --pause 10 --hold
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SCOPES = ("self", "user", "shared", "project", "session")
_SUBJECTS = {"self": "assistant:self", "user": "user:primary", "session": "session:current"}
_STOP_WORDS = re.compile(
    "a|an|and|are|as|at|be|but|by|for|from|has|have|i|in|is|it|its|of|on|or|that|the|this|to|was|with"
)
Shaped = dict[str, Any]


def read_graph(home: Path) -> Shaped:
    """graph.json as the original reads it; nothing but version and notes is kept."""
    path = home / "graph" / "graph.json"
    notes = json.loads(path.read_bytes())["notes"] if path.exists() else []
    return {"version": 3, "notes": notes}


def save_graph(home: Path, graph: Shaped) -> None:
    """Saves every note: white space squeezed, links to nowhere dropped, vectors made anew, unknown fields kept."""
    ids = {note["id"] for note in graph["notes"]}
    for note in graph["notes"]:
        note["content"] = squeezed(note["content"])
        note["links"] = [link for link in note["links"] if link["to"] in ids and link["to"] != note["id"]]
        note["vector"] = vector(note)
    text = json.dumps(graph, indent=2, ensure_ascii=False) + "\n"
    _replace(home / "graph" / "graph.json", text)


def squeezed(text: str) -> str:
    """Text as the original stores it: spaces, indentation and blank lines squeezed."""
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in re.split(r"\r\n|\r|\n", text))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def vector(note: Shaped) -> Shaped:
    """The recipe of a note's vector."""

    def tokens(text: str) -> list[str]:
        words = re.findall(r"[a-z0-9/_:-]{2,}", text.lower())
        return [word for word in words if not _STOP_WORDS.fullmatch(word)]

    parts = [f"{name}:{note[name]}" for name in ("kind", "subject", "scope", "type", "source", "stability")]
    parts.append(f"note:{note['id']}")
    parts += [f"title:{word}" for word in tokens(note["title"])[:4]]
    parts += [f"content:{word}" for word in tokens(note["content"])[:6]]
    parts += [f"tag:{tag}" for tag in note["tags"][:6]]
    parts += [f"link:{link['to']}" for link in note["links"][:4]]
    basis = list(dict.fromkeys(parts))[:20]
    return {"seed": len("|".join(basis).encode("utf-16-le", "surrogatepass")) // 2, "basis": basis}


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    text = re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    temporary.write_bytes(text.encode())
    os.replace(temporary, path)


def new_note(kind: str, nugget: str, title: str, content: str, *, id: str, at: str, scope: str) -> Shaped:
    """A note as the original makes it; only what matters here is inferred."""
    shaped = {
        "id": f"{kind}-{nugget}-{id}",
        "nuggetName": nugget,
        "title": title,
        "content": content,
        "tags": [nugget, f"scope:{scope}", f"type:{kind}"],
        "links": [],
        "vector": {"seed": 0, "basis": []},
        "hidden": False,
        "kind": kind,
        **({"sourceKey": title} if kind == "fact" else {}),
        "hits": 0,
        "lastHitSession": "",
        "createdAt": at,
        "updatedAt": at,
        "lastAccessedAt": at,
        "subject": _SUBJECTS.get(scope, "shared:project"),
        "scope": scope,
        "type": kind,
        "source": "explicit_user",
        "confidence": 0.9,
        "stability": "durable",
    }
    return shaped | {"vector": vector(shaped)}


class Original:
    """One running process of the original with one nugget loaded. `ids` gives 8 new hexadecimal digits a call.

    Operations that touch both files do it in two steps, facts first; `before_graph` is called in between.
    """

    def __init__(
        self,
        home: Path,
        name: str = "memory",
        *,
        now: Callable[[], str] | None = None,
        ids: Callable[[], str] | None = None,
        load: bool = True,
    ) -> None:
        self.home = home
        self.name = name
        self.before_graph: Callable[[], None] = lambda: None
        self._now = now or (lambda: datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z")
        self._ids = ids or (lambda: uuid.uuid4().hex[:8])
        self._path = next(iter(sorted(home.glob(f"{name}.*.json"))), home / f"{name}.nugget.json")
        self._head: Shaped = {
            "version": 4,
            "name": name,
            "D": 1024,
            "banks": 4,
            "ensembles": 1,
            "max_facts": 0,
        }
        self._tail: Shaped = {"config": {"sharpen_p": 1, "corvacs_a": 0, "temp_T": 0.9, "orth_iters": 1}}
        self.facts: list[Shaped] = []
        self.read_facts()
        if load:
            self.load()

    # The facts in memory

    def read_facts(self) -> None:
        """Takes the facts into memory as they are in the file now."""
        if self._path.exists():
            shaped = json.loads(self._path.read_bytes())
            self._head = {name: shaped[name] for name in self._head}
            self._tail = {"config": shaped["config"]}
            self.facts = shaped["facts"]

    def save_facts(self) -> None:
        """Saves all facts as they are in memory; fields that the original does not know are dropped."""
        names = ("key", "value", "hits", "last_hit_session")
        facts = [{name: fact[name] for name in names} for fact in self.facts]
        _replace(self._path, json.dumps(self._head | {"facts": facts} | self._tail, ensure_ascii=False))

    def load(self) -> None:
        """What the original does when it loads: unscoped keys get a scope, every fact's note is set anew."""
        graph = read_graph(self.home)
        for fact in self.facts:
            if not re.match(f"(?:{'|'.join(SCOPES)}):", fact["key"]):
                fact["key"] = f"{self._scope(graph, fact['key'])}:{fact['key']}"
        self.save_facts()
        self.before_graph()
        graph = read_graph(self.home)
        keys = [fact["key"] for fact in self.facts]
        graph["notes"] = [
            note
            for note in graph["notes"]
            if not self._mirrors(note) or note["hidden"] or note["sourceKey"] in keys
        ]
        for fact in self.facts:
            self._upsert(graph, fact)
        save_graph(self.home, graph)

    def remember(self, key: str, value: str) -> None:
        """Stores a fact and its note."""
        fact = self._fact(key)
        if fact is None:
            self.facts.append({"key": key, "value": value, "hits": 0, "last_hit_session": ""})
        else:
            fact["value"] = value
        self._save_with_note(key)

    def recall(self, key: str, session: str) -> None:
        """Counts a recall of a fact."""
        fact = self._fact(key)
        assert fact is not None
        if fact["last_hit_session"] != session:
            fact |= {"hits": fact["hits"] + 1, "last_hit_session": session}
        self._save_with_note(key)

    def forget(self, key: str) -> None:
        """Forgets a fact: out of the list, then its note out of the graph."""
        self.facts = [fact for fact in self.facts if fact["key"] != key]
        self.save_facts()
        self.before_graph()
        with self.graph() as graph:
            graph["notes"] = [
                note
                for note in graph["notes"]
                if not self._mirrors(note) or note["sourceKey"] != key or note["hidden"]
            ]

    def hide(self, key: str) -> None:
        """Soft-deletes a fact's note: the fact goes for good, the note is hidden."""
        self.facts = [fact for fact in self.facts if fact["key"] != key]
        self.save_facts()
        self.before_graph()
        with self.graph() as graph:
            for note in graph["notes"]:
                if self._mirrors(note) and note["sourceKey"] == key:
                    note |= {"hidden": True, "archivedAt": self._now(), "updatedAt": self._now()}

    def _save_with_note(self, key: str) -> None:
        self.save_facts()
        self.before_graph()
        fact = self._fact(key)
        assert fact is not None
        with self.graph() as graph:
            self._upsert(graph, fact)

    def _fact(self, key: str) -> Shaped | None:
        return next((fact for fact in self.facts if fact["key"] == key), None)

    # Notes

    def graph(self) -> _OpenGraph:
        """One operation on the graph: read at the start, every note saved at the end."""
        return _OpenGraph(self.home)

    def create_note(self, title: str, content: str) -> str:
        """Adds a note; its id."""
        with self.graph() as graph:
            return self.add_note(graph, title, content)

    def add_note(self, graph: Shaped, title: str, content: str) -> str:
        """Adds a note to a graph that was read before."""
        note = new_note("note", self.name, title, content, id=self._ids(), at=self._now(), scope="user")
        graph["notes"].append(note)
        return str(note["id"])

    def edit_note(self, id: str, **fields: Any) -> None:
        """Changes a note."""
        with self.graph() as graph:
            for note in graph["notes"]:
                if note["id"] == id:
                    note |= fields | {"updatedAt": self._now()}

    def record_hit(self, id: str, session: str) -> None:
        """Counts a recall of a note."""
        with self.graph() as graph:
            for note in graph["notes"]:
                if note["id"] == id:
                    at = self._now()
                    note |= {"hits": note["hits"] + 1, "lastHitSession": session}
                    note |= {"updatedAt": at, "lastAccessedAt": at}

    def _mirrors(self, note: Shaped) -> bool:
        return bool(note["kind"] == "fact" and note["nuggetName"] == self.name)

    def _scope(self, graph: Shaped, key: str) -> str:
        notes = (note for note in graph["notes"] if self._mirrors(note) and note.get("sourceKey") == key)
        return next((note["scope"] for note in notes), "user")

    def _upsert(self, graph: Shaped, fact: Shaped) -> None:
        key = fact["key"]
        found = [note for note in graph["notes"] if self._mirrors(note) and note["sourceKey"] == key]
        at = self._now()
        if not found:
            scope = key.partition(":")[0] if key.partition(":")[0] in SCOPES else "user"
            made = new_note("fact", self.name, key, fact["value"], id=self._ids(), at=at, scope=scope)
            found = [made]
            graph["notes"].append(made)
        found[0] |= {"title": key, "content": fact["value"], "hidden": False, "updatedAt": at}
        found[0] |= {"hits": fact["hits"], "lastHitSession": fact["last_hit_session"]}
        found[0].pop("archivedAt", None)


class _OpenGraph:
    def __init__(self, home: Path) -> None:
        self._home = home
        self._graph: Shaped = {}

    def __enter__(self) -> Shaped:
        self._graph = read_graph(self._home)
        return self._graph

    def __exit__(self, *failed: object) -> None:
        if failed[0] is None:
            save_graph(self._home, self._graph)


def run(home: Path, seconds: float, pause: float, hold: bool, think: float = 0.02) -> Iterator[str]:
    """Loads, thinks, and saves everything with one note more, again and again; the id of each note once saved.

    seconds: for how long. pause: between two rounds, in seconds. hold: also saves, each round, the facts that it
    read at the start.
    """
    nugget = Original(home, load=False)
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        number += 1
        graph = read_graph(home)
        time.sleep(think)
        id = nugget.add_note(graph, f"Naive {number}", f"Written in round {number}.")
        if hold:
            nugget.save_facts()
        save_graph(home, graph)
        yield id
        time.sleep(pause)


def _main(arguments: Iterable[str]) -> None:
    parser = argparse.ArgumentParser(description=run.__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pause", type=float, default=0.0, help="milliseconds between two rounds")
    parser.add_argument("--hold", action="store_true", help="save the facts read at the start in each round")
    given = parser.parse_args(list(arguments))
    for id in run(given.home, given.seconds, given.pause / 1000, given.hold):
        print(id, flush=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
