"""How the house is built: parts that are held by their owner, and no file that imports one which imports it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "nuggets_tui")
LONGEST_CHAIN = 4
# The nodes of each module, by its name.
Modules = dict[str, list[ast.AST]]


def _modules() -> Modules:
    paths = (path.relative_to(ROOT) for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    return {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__"): nodes_of((ROOT / path).read_text())
        for path in paths
    }


def nodes_of(source: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(source)))


@pytest.fixture(scope="module")
def modules() -> Modules:
    return _modules()


def _classes(modules: Modules) -> list[ast.ClassDef]:
    nodes = (node for module in modules.values() for node in module)
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def _bases(one: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).split("[")[0].split(".")[-1] for base in one.bases}


def cut_classes(modules: Modules) -> set[str]:
    """Classes that exist only to be the base of one other: with one subclass, never made themselves, no protocol."""
    nodes = (node for module in modules.values() for node in module)
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    made = {one.id for one in called if isinstance(one, ast.Name)}
    made |= {one.attr for one in called if isinstance(one, ast.Attribute)}
    classes = [one for one in _classes(modules) if "Protocol" not in _bases(one)]
    subclasses: dict[str, set[str]] = defaultdict(set)
    for one in classes:
        for base in _bases(one):
            subclasses[base].add(one.name)
    return {one.name for one in classes if len(subclasses[one.name]) == 1 and one.name not in made}


def _imported(module: list[ast.AST], known: Modules) -> Iterator[str]:
    """What a module imports of the house when it runs, in functions as well; for type checking alone left out."""
    conditions = (node for node in module if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    checking = (node for node in conditions if node.test.id == "TYPE_CHECKING")
    passed_over = {id(inner) for node in checking for each in node.body for inner in ast.walk(each)}
    for node in module:
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in passed_over:
            full = (f"{node.module}.{name.name}" for name in node.names)
            yield from (name if name in known else node.module for name in full)


@pytest.mark.slow
def test_no_class_is_a_base_only_to_split_another(modules: Modules) -> None:
    # Errors are caught by their base.
    assert {name for name in cut_classes(modules) if not name.endswith("Error")} == set()


def test_a_class_that_was_split_is_found() -> None:
    source = "class Half: ...\nclass Whole(Half): ...\nclass Used: ...\nclass More(Used): ...\nused = Used()"
    assert cut_classes({"one": nodes_of(source)}) == {"Half"}


def longest_chain(modules: Modules) -> list[str]:
    """The longest chain of classes of the house of which each is the base of the next."""
    bases = {one.name: _bases(one) for one in _classes(modules)}

    def chain(name: str) -> list[str]:
        above = (chain(base) for base in bases[name] if base in bases and base != name)
        return [*max(above, key=len, default=[]), name]

    return max(map(chain, bases), key=len)


@pytest.mark.slow
def test_no_chain_of_classes_is_long(modules: Modules) -> None:
    found = longest_chain(modules)
    assert 2 < len(found) <= LONGEST_CHAIN, found


@pytest.mark.slow
def test_no_file_imports_one_that_imports_it(modules: Modules) -> None:
    graph = {
        name: {one for one in _imported(module, modules) if one in modules and one != name}
        for name, module in modules.items()
    }
    assert sum(map(len, graph.values())) > len(graph)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


# What one aggregate's statements look like, wherever they stand.
SQL = re.compile(
    r"\b(SELECT\s.*\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+(OR\s+\w+\s+)?\w+\s+SET|DELETE\s+FROM)\s", re.S
)


def asks_tables(nodes: list[ast.AST]) -> bool:
    """Whether a module holds a statement that reads or writes rows."""
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return any(SQL.search(text) for text in texts)


def on_a_connection(nodes: list[ast.AST]) -> set[str]:
    """Functions that are handed a connection; those of a class have it."""
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    return {
        one.name
        for one in functions
        if one.name != "__init__"
        and any(a.annotation and "Connection" in ast.unparse(a.annotation) for a in one.args.args)
    }


def test_rows_of_the_pipelines_database_are_read_and_written_by_its_aggregates_alone(
    modules: Modules,
) -> None:
    pipeline = {name: nodes for name, nodes in modules.items() if name.startswith("core.pipeline")}
    asking = {name for name, nodes in pipeline.items() if asks_tables(nodes)}
    assert {name.rpartition(".")[0] for name in asking} == {"core.pipeline.database"}
    assert len(asking) > 10
    database = {name: nodes for name, nodes in pipeline.items() if name.startswith("core.pipeline.database.")}
    free = {name: found for name, nodes in database.items() if (found := on_a_connection(nodes))}
    # How a connection is begun and kept is the database's own.
    assert set(free) <= {"core.pipeline.database.connection"}


def test_a_statement_and_a_function_on_a_connection_are_found() -> None:
    assert asks_tables(nodes_of("x = 'SELECT a FROM b WHERE c'"))
    assert asks_tables(nodes_of("x = f'UPDATE OR IGNORE {t} SET a = 1'")) is False
    assert asks_tables(nodes_of("def f(): g('DELETE FROM jobs WHERE id = ?')"))
    assert not asks_tables(nodes_of("x = 'select one from many'"))
    assert on_a_connection(nodes_of("def f(reader: sqlite3.Connection) -> None: ...")) == {"f"}


# What makes, changes or removes a file. Names of methods stand for paths: nothing else here is called so.
_OF_OS = (
    "chmod", "chown", "ftruncate", "link", "makedirs", "mkdir", "remove", "removedirs", "rename", "renames", "replace",
    "rmdir", "symlink", "truncate", "unlink", "utime", "O_CREAT", "O_WRONLY", "O_APPEND", "O_TRUNC",
)  # fmt: skip
_OF_PATHS = (
    "chmod", "hardlink_to", "mkdir", "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text",
)  # fmt: skip


def writing_calls(nodes: list[ast.AST]) -> list[int]:
    """Lines on which files are made, changed or removed."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            writes = node.attr in _OF_OS
        else:
            called = node.func if isinstance(node, ast.Call) else None
            writes = isinstance(called, ast.Attribute) and called.attr in _OF_PATHS
        if writes:
            found.append(node.lineno)
    return found


@pytest.mark.slow
def test_files_are_written_in_storage_alone(modules: Modules) -> None:
    """The demo makes a memory of its own, a person's editor gets a copy of the text, a closed pipe leads nowhere."""
    exempt = ("core.storage.", "nuggets_tui.demo", "nuggets_tui.screens.outside", "nuggets_tui.cli")
    written = {
        name: lines
        for name, nodes in modules.items()
        if not (name.startswith(exempt[:2]) or name in exempt) and (lines := writing_calls(nodes))
    }
    assert written == {}


@pytest.mark.slow
def test_a_call_that_writes_is_found() -> None:
    for code in ("os.makedirs(x)", "os.open(p, os.O_RDWR | os.O_CREAT)", "p.write_text('x')", "q.unlink()"):
        assert writing_calls(nodes_of(code)) == [1]
    assert writing_calls(nodes_of("os.open(p, os.O_RDONLY); text.replace('a', 'b')")) == []
