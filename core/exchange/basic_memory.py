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
    references: dict[str, str] = {}
    for _, line in prose(record.content):
        relation = _RELATION.match(line)
        if relation is not None:
            reason = (relation[1] or relation[2] or relation[3]).strip()
            references[relation[4].split("|")[0].strip()] = reason.replace("_", " ") or _LINKS_TO
        for name in links_of(line):
            references.setdefault(name, _LINKS_TO)
    return msgspec.structs.replace(
        record, references=tuple(Reference(name, why) for name, why in references.items())
    )
