"""Finds file references in a text, such as src/auth/middleware.ts:47, by their shape alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# Nobody waits for more of a text than this.
_READ: Final = 100_000
_LONGEST: Final = 400
_MOST: Final = 200
# What a path is made of; whatever else stands there ends it. Spaces end it too: nobody could tell where it began.
_TOKEN: Final = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\"'`<>|*?(){}\[\],;!“”‘’«»…]+")
_LINE: Final = re.compile(
    r"#L(\d{1,7})(?:C(\d{1,5}))?(?:-L?\d{1,7}(?:C\d{1,5})?)?\Z|:(\d{1,7})(?::(\d{1,5}))?(?:-\d{1,7})?\Z"
)
# "file.py(12)" and "file.py (line 12)" are not read: the bracket may mean anything.
_PATH: Final = re.compile(r"(?:[A-Za-z]:)?[\w.~@+$%&=\\/-]+")
_EXTENSION: Final = re.compile(r"[^./\\]\.([A-Za-z][A-Za-z0-9_+-]{0,9})\Z")
_PARTS: Final = re.compile(r"[\\/]+")
# A bare word with a dot is a file where its end is one that files of a project have; "e.g" and "example.com" are none.
_KNOWN: Final = re.compile(
    r"(?:adoc|asm|astro|awk|bash|bat|bib|bzl|c|cc|cfg|cjs|clj|cljs|cmake|cmd|conf|cpp|cr|cs|css|csv|cu"
    r"|cxx|dart|db|diff|dockerfile|edn|el|elm|env|erl|ex|exs|f90|fish|fs|fsx|gd|gemspec|glsl|go|gql"
    r"|gradle|graphql|groovy|h|haml|hbs|hcl|hh|hpp|hrl|hs|htm|html|hxx|ini|ipynb|j2|jade|java|jl|js"
    r"|json|json5|jsonc|jsonl|jsx|kdl|kt|kts|lean|less|lisp|lock|log|lua|m|make|md|mdx|mjs|mk|ml|mli"
    r"|mm|mod|mts|mustache|nim|nix|org|patch|pdf|php|pl|plist|pm|po|prisma|proto|ps1|pug|puml|py|pyi"
    r"|pyx|qml|r|rb|rkt|rs|rst|sass|scala|scm|scss|sh|sol|sql|sqlite|sum|sv|svelte|svg|swift|tcl|tcss"
    r"|tex|tf|tfvars|toml|ts|tsv|tsx|ttl|twig|txt|v|vb|vhd|vim|vue|wat|wgsl|xml|xsd|xsl|yaml|yml|zig"
    r"|zsh)\Z"
)
_NAMES: Final = frozenset(
    ("makefile", "dockerfile", "justfile", "rakefile", "gemfile", "procfile", "vagrantfile", "jenkinsfile")
)


# A folder, or a file without an ending, is told from "and/or", "/help" and "km/h" by how it begins or ends.
_ROOT: Final = (
    r"etc|usr|home|users|var|opt|tmp|mnt|media|srv|root|run|dev|proc|sys|bin|sbin|lib|boot|data"
    r"|library|applications|volumes|private|system|nix|workspaces?|work|app"
)
_SEGMENTS: Final = r"(?:[/\\][\w.@+%$~=-]+)"
_FOLDER: Final = re.compile(
    rf"(?:(?:~[\w.-]*|\.{{1,2}}|\$\w+|\$\{{\w+\}}|%\w+%|[A-Za-z]:){_SEGMENTS}+|/(?:{_ROOT}){_SEGMENTS}*"
    rf"|\.?[^\W\d][\w.@+-]*{_SEGMENTS}*(?=[/\\]\Z))[/\\]?",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(r"[\s,;]+")
_AROUND: Final = "\"'`<>()[]“”‘’«»"


@dataclass(frozen=True)
class FileReference:
    """A file that a text speaks of. line and column count from 1, 0 where none is said; start and end: where in the
    text it stands, in characters.
    """

    path: str
    line: int = 0
    column: int = 0
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        places = [str(number) for number in (self.line, self.column) if number]
        return ":".join([self.path, *places])


def file_references(text: str) -> tuple[FileReference, ...]:
    """The files that a text speaks of, in order, each place of each once; at most 200.

    Read are "a/b.py", "b.py:12:3", "b.md#L10" and the like, absolute, from "~", or relative; never what belongs to a
    URL. A bare name needs an ending that files of a project have, or a line.
    """
    found: list[FileReference] = []
    for token in _TOKEN.finditer(text[:_READ]):
        if len(token[0]) <= _LONGEST:
            found += _in_token(token[0], token.start())
        if len(found) >= _MOST:
            break
    return tuple(found[:_MOST])


def is_path(text: str) -> bool:
    """Whether a text is nothing but the path of a file or folder, or several of them; looked up nowhere.

    A bare name without folder or line is none: "Node.js" and "example.org" look like "main.js" and "notes.org".
    """
    if len(text) > _LONGEST * 4:
        return False
    words = [word.strip(_AROUND).rstrip(".:") for word in _BETWEEN.split(text.strip())]
    return any(words) and all(map(_is_path, filter(None, words)))


def _is_path(word: str) -> bool:
    word = word.removeprefix("file://")
    if len(word) > _LONGEST:
        return False
    if _FOLDER.fullmatch(word):
        return True
    found = next(_in_token(word, 0), None)
    if found is None or found.start > 0 or not (found.line or _PARTS.search(found.path)):
        return False
    return found.end == len(word) or word.startswith("::", found.end)


def _in_token(token: str, start: int) -> Iterator[FileReference]:
    if "://" in token or token.startswith(("mailto:", "www.", "//", "\\\\")):
        return
    # "path=a/b.py:3" names a file behind the sign, "a/b.py::test" one before the colons; a full stop or colon at the
    # end belongs to the sentence.
    begin = token.rfind("=") + 1
    said = token[begin:].partition("::")[0].rstrip(".:")
    line, column, path = _split(said)
    if _PATH.fullmatch(path) and _is_file(path, line):
        yield FileReference(path, line, column, start + begin, start + begin + len(said))


def _split(said: str) -> tuple[int, int, str]:
    """Line, column and path of what was said."""
    place = _LINE.search(said)
    if place is None:
        return 0, 0, said
    line, column = place[1] or place[3], place[2] or place[4]
    return int(line), int(column or 0), said[: place.start()]


def _is_file(path: str, line: int) -> bool:
    parts = _PARTS.split(path)
    name = parts[-1]
    if not name.strip(".~") or ("@" in name and len(parts) == 1):
        return False
    ending = _EXTENSION.search(name)
    known = name.lower() in _NAMES or (ending is not None and bool(_KNOWN.match(ending[1].lower())))
    if name.startswith(".") and len(name) > 2 and name[1].isalpha() and (len(parts) > 1 or line > 0):
        return True
    if len(parts) == 1:
        # "10:30" and "localhost:8080" have a line's shape, but no file's.
        return known or (line > 0 and ending is not None and not _looks_like_a_host(path))
    if _looks_like_a_host(parts[0]) and not line:
        return False
    return ending is not None or name.lower() in _NAMES or (line > 0 and bool(re.search(r"[^\W\d]", name)))


def _looks_like_a_host(name: str) -> bool:
    return bool(re.search(r"\.(?:com|org|net|io|dev|app|edu|gov|ai|co|uk|de|local)\Z", name, re.IGNORECASE))
