"""Notes of basic-memory: Markdown pages whose bullets are observations ("- [category] text") and relations
("- type [[Page]]").
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from core.exchange import markdown
from core.exchange.pages import links_of, prose
from core.exchange.records import Parsed, Record, Reference, Source

OBSERVATION: Final = re.compile(r"\s*[-*] \[([^\[\]()\n]{2,60})\] \S")
_RELATION: Final = re.compile(
    r"\s*[-*] (?:\"([^\"\n]{1,100})\"|'([^'\n]{1,100})'|([^\[\]\n]{1,100}?)) ?\[\[([^\[\]\n]{1,400})\]\]"
)
_LINKS_TO: Final = "links to"


def read(source: Source) -> Parsed:
    """A note for each page. Its text stays whole; a relation is a link, with its type as the reason."""
    found = markdown.read(source)
    return found._replace(records=tuple(map(_with_relations, found.records)))


def _with_relations(record: Record) -> Record:
    found: dict[Reference, None] = {}
    links: dict[str, None] = {}
    for _, line in prose(record.content):
        relation = _RELATION.match(line)
        if relation is not None:
            reason = (relation[1] or relation[2] or relation[3]).strip()
            name = next(links_of(f"[[{relation[4]}]]"), "")
            found[Reference(name, reason.replace("_", " ") or _LINKS_TO)] = None
        links |= dict.fromkeys(links_of(line))
    typed = {reference.name for reference in found}
    plain = (Reference(name, _LINKS_TO) for name in links if name not in typed)
    return msgspec.structs.replace(record, references=tuple(one for one in (*found, *plain) if one.name))
