"""No code reads what is written for people: behaviour hangs on codes, kinds, fields, remedies and origins alone."""

from __future__ import annotations

import ast
import importlib
import re
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Names under which our errors, notices, problems, findings and entries of the log hold words.
PROSE = frozenset(
    (
        "what",
        "kept",
        "todo",
        "more",
        "message",
        "reason",
        "detail",
        "said",
        "told",
        "repair",
        "why",
        "summary",
        "args",
    )
)
READERS = frozenset(
    (
        "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit",
        "splitlines", "find", "rfind", "index", "count", "replace", "translate", "match", "fullmatch", "search",
        "findall", "finditer", "sub", "get",
    )
)  # fmt: skip
# What bears such a name and is no sentence but a code: in which file, and the class that says so with its type.
CODES = {
    "core/errors.py": {"what": "core.errors:Restore"},
    "core/pipeline/model_calls.py": {"reason": "core.pipeline.models.provider:Availability"},
    "core/pipeline/writes/accept.py": {"reason": "core.pipeline.writes.execution:ExecutionResult"},
    "core/pipeline/writes/note_sync.py": {"what": "core.pipeline.writes.note_sync:ChangedNote"},
    "core/pipeline/writes/verify.py": {"what": "core.pipeline.writes.note_sync:ChangedNote"},
    "core/services/secrets.py": {"what": "core.storage.masking.mask:Place"},
    "nuggets_tui/cli/secrets.py": {"why": "core.storage.masking.proof:Left"},
    "nuggets_tui/words.py": {"reason": "core.facts.recall:Skipped"},
}
# Texts of people that are looked up as they are, such as the reason of a link, and codes of the pipeline's database.
STORED = {"link.reason", "other.reason", "row.reason"}
# The readers of what files hold that have no other place for it: spellings of former versions, and of links.
FORMER = {
    "core/storage/journal/codec.py": {"_former_code"},
    "core/reflection/linking.py": {"is_of_reflection", "is_of_merging"},
}
# What is the same as what was said before, word for word, is not said again.
ONCE = {
    "core/pipeline/workers/loop.py": {"run"},
    "nuggets_tui/cli/log_text.py": {"_reason"},
    "nuggets_tui/long_work.py": {"_show_newest"},
    "nuggets_tui/notices.py": {"make_room"},
}


# What every reading begins with; a file without it is not worth parsing.
_BEGINS = re.compile(rf"\.(?:{'|'.join(PROSE)})\b|\bstr\(")


def sources() -> Iterator[tuple[str, str]]:
    for package in ("core", "nuggets_tui"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if _BEGINS.search(text):
                yield path.relative_to(ROOT).as_posix(), text


def are_members(node: ast.expr) -> bool:
    """Whether an expression is a member of an enumeration, or some of them."""
    match node:
        case ast.Attribute(value=ast.Name(id=kind), attr=member):
            return kind[:1].isupper() and member.isupper()
        case ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return all(map(are_members, parts))
        case _:
            return False


class Reading(ast.NodeVisitor):
    """Finds where a text for people is compared or taken apart; names that were given such a text count as it."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, str]] = []
        self.errors: list[set[str]] = [set()]
        self.held: list[dict[str, str]] = [{}]
        self.function = ""

    def prose(self, node: ast.expr | None) -> str:
        """The prose that an expression is or is made of, "" for none."""
        match node:
            case ast.Attribute(attr=name) if name in PROSE:
                return ast.unparse(node)
            case ast.Name(id=name):
                return next((held[name] for held in reversed(self.held) if name in held), "")
            case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]) if name in self.errors[-1]:
                return ast.unparse(node)
            case ast.Call(
                func=ast.Attribute(value=value, attr="lower" | "casefold" | "strip" | "rstrip" | "lstrip")
            ):
                return self.prose(value)
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in READERS - {"get"}:
                return self.prose(value)
            case ast.Subscript(value=value):
                return self.prose(value)
            case ast.JoinedStr(values=values):
                return next(
                    filter(None, (self.prose(v.value) for v in values if isinstance(v, ast.FormattedValue))),
                    "",
                )
            case (
                ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.BoolOp(values=parts)
            ):
                return next(filter(None, map(self.prose, parts)), "")
            case ast.BinOp(left=left, right=right):
                return self.prose(left) or self.prose(right)
            case ast.IfExp(body=body, orelse=orelse):
                return self.prose(body) or self.prose(orelse)
            case _:
                return ""

    def note(self, node: ast.AST, prose: str) -> None:
        if prose:
            self.found.append((getattr(node, "lineno", 0), prose, self.function))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer, self.function = self.function, node.name
        self.errors.append(set(self.errors[-1]))
        self.held.append({})
        self.generic_visit(node)
        self.errors.pop()
        self.held.pop()
        self.function = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.errors[-1].add(node.name)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self.hold(target, node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self.hold(node.target, node.value)

    def hold(self, target: ast.expr, value: ast.expr) -> None:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            for one, other in zip(target.elts, value.elts, strict=True):
                self.hold(one, other)
        elif isinstance(target, ast.Name):
            self.held[-1].pop(target.id, None)
            prose = self.prose(value)
            if prose:
                self.held[-1][target.id] = prose

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            empty = any(isinstance(side, ast.Constant) and side.value in ("", None) for side in (left, right))
            other = not isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn)
            if not (empty or other or are_members(left) or are_members(right)):
                self.note(node, self.prose(left) or self.prose(right))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=" "), attr="join"),
                args=[ast.Call(func=ast.Attribute(attr="split", value=whole), args=[])],
            ):
                # Lines made one.
                self.visit(whole)
                return
        match node.func:
            case ast.Attribute(value=value, attr=name) if name in READERS:
                # The new text of a replacement is made, not read.
                read = (
                    node.args[:1]
                    if name in ("get", "match", "fullmatch", "search", "findall", "finditer")
                    else []
                )
                read = node.args[1:] if isinstance(value, ast.Name) and value.id == "re" else read
                self.note(node, self.prose(value) or next(filter(None, map(self.prose, read)), ""))
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        self.note(node, self.prose(node.subject))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.slice, ast.Slice | ast.Constant):
            self.note(node, self.prose(node.slice))
        self.generic_visit(node)


def readings(file: str, tree: ast.Module) -> list[str]:
    """Where a file reads what is written for people."""
    reading = Reading()
    reading.visit(tree)
    return [
        f"{file}:{line} reads {prose}"
        for line, prose, function in reading.found
        if function not in FORMER.get(file, ())
        and function not in ONCE.get(file, ())
        and prose not in STORED
        and prose.rpartition(".")[2] not in CODES.get(file, {})
    ]


@pytest.mark.slow
def test_no_code_reads_what_is_written_for_people() -> None:
    assert [found for file, text in sources() for found in readings(file, ast.parse(text))] == []


@pytest.mark.slow
def test_all_of_the_product_is_looked_at() -> None:
    looked_at = {file for file, _ in sources()}
    assert {"core/services/history.py", "core/storage/store.py", "nuggets_tui/notices.py"} <= looked_at
    assert len(looked_at) > 200


@pytest.mark.parametrize(
    "code",
    [
        "error.what.startswith('x')",
        "'already there' in error.message",
        "entry.change_set.reason == 'taken in'",
        "re.sub('nuggets verify', key, error.todo)",
        "PATTERN.match(finding.detail)",
        "KEYS[problem.what]",
        "KEYS.get(error.kept, '')",
        "f'{error.what}' == 'x'",
        "finding.detail.partition(' Mend it')[0]",
        "error.what.lower().split()",
        "(one.what, one.where) == ('x', 'y')",
        "any(word in error.what for word in fields)",
        "said = error.what\nif said == 'x': pass",
        "said = error.what.lower()\nfor word in fields:\n    if word in said: pass",
        "if (told := error.message) and told.endswith('again'): pass",
        "match error.what:\n    case 'x': pass",
        "try: pass\nexcept ValueError as error:\n    found = 'closed' in str(error)",
    ],
)
def test_a_reading_of_prose_is_found_however_it_is_written(code: str) -> None:
    indented = "\n".join(f"    {line}" for line in code.split("\n"))
    assert readings("some.py", ast.parse(f"def work():\n{indented}"))


@pytest.mark.parametrize(
    "code",
    [
        "show(error.what)",
        "' '.join(str(error).split())",
        "proposal.reason in (Reason.EMPTY, Reason.LOW_CONFIDENCE)",
        "said = f'{error.where}: {error.what}'",
        "if error.todo: show(error.todo)",
        "if error.kept == '': pass",
        "head = error.what[:1].upper() + error.what[1:]",
        "error.code is ErrorCode.LOCKED",
        "error.what = 'x'",
        "said = error.what\nsaid = 'x'\nif said == 'x': pass",
    ],
)
def test_showing_prose_is_no_reading(code: str) -> None:
    indented = "\n".join(f"    {line}" for line in code.split("\n"))
    assert readings("some.py", ast.parse(f"def work():\n{indented}")) == []


@pytest.mark.parametrize(
    ("file", "name", "owner"), [(f, n, o) for f, names in CODES.items() for n, o in names.items()]
)
def test_what_counts_as_a_code_is_of_a_closed_set(file: str, name: str, owner: str) -> None:
    module, _, kind = owner.partition(":")
    hint = typing.get_type_hints(getattr(importlib.import_module(module), kind))[name]
    assert typing.get_origin(hint) is typing.Literal or issubclass(hint, Enum), (file, hint)
