"""Every key of the pipeline is read by code that does something with it, or is said to be reserved when it is set."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from core.settings import load_settings
from core.settings.pipeline_sections import PipelineConfiguration
from core.settings.tree import settings_by_name
from core.settings.warnings import WarningKind

ROOT = Path(__file__).parents[4]
KEYS = [key for name, key in settings_by_name().items() if name.startswith("pipeline.")]
# What reads the files, and what lists the keys, does nothing with them.
_READERS = (
    ROOT / "core" / "settings" / "pipeline_sections.py",
    ROOT / "core" / "settings" / "loading.py",
)
_TYPE = re.compile(r"\b(\w+Part|PipelineConfiguration)\b")


def sections_by_type() -> dict[str, str]:
    whole = PipelineConfiguration()
    values = {name: getattr(whole, name) for name in whole.__struct_fields__}
    found = {type(one).__name__: name for name, one in values.items() if isinstance(one, msgspec.Struct)}
    return found | {"PipelineConfiguration": ""}


SECTIONS = sections_by_type()


class Reads:
    """The keys that a file reads: what is asked of a name whose type is a section, or of a section by its name."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._names: dict[str, set[str]] = {}
        for name, section in (*self._annotated(), *self._assigned()):
            self._names.setdefault(name, set()).add(section)

    def _annotated(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.arg) and node.annotation is not None:
                name, annotation = node.arg, node.annotation
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name, annotation = node.target.id, node.annotation
            else:
                continue
            type_name = _TYPE.search(ast.unparse(annotation))
            if type_name is not None and type_name[1] in SECTIONS:
                yield name, SECTIONS[type_name[1]]

    def _assigned(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Assign):
                continue
            for target in node.targets:
                several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                targets = target.elts if several else [target]  # type: ignore[attr-defined]
                values = node.value.elts if several else [node.value]  # type: ignore[attr-defined]
                for one, value in zip(targets, values, strict=False):
                    if isinstance(value, ast.Attribute) and value.attr in SECTIONS.values():
                        yield _name_of(one), value.attr

    def keys(self) -> Iterator[tuple[str, str]]:
        """Section and field of each."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield from ((section, node.attr) for section in self._sections(node.value))

    def _sections(self, node: ast.expr) -> set[str]:
        """What a name may be: in one file it may stand for several sections."""
        name = _name_of(node)
        if isinstance(node, ast.Attribute) and name in SECTIONS.values():
            return {name}
        if name in self._names:
            return self._names[name]
        return {""} if name.endswith("configuration") else set()


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def read_by_code() -> set[tuple[str, str]]:
    """All keys that code of the product reads."""
    found: set[tuple[str, str]] = set()
    for package in ("core", "nuggets_tui"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if path not in _READERS and ("onfiguration" in text or _TYPE.search(text)):
                found.update(Reads(ast.parse(text)).keys())
    return found


def test_there_are_all_the_keys_of_the_documentation_and_more() -> None:
    assert len(KEYS) >= 83


@pytest.mark.slow
def test_each_key_is_read_by_code() -> None:
    read = read_by_code()
    assert [key.name for key in KEYS if (key.section[9:], key.field) not in read] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("telemetry_enabled = true", "telemetry_enabled"),
        ("[pipeline.telemetry]\nposthogApiKey = 'phc_hidden'", "telemetry"),
    ],
)
def test_a_reserved_key_is_named_with_a_code_when_somebody_sets_it(
    text: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "settings.toml").write_text(f"[pipeline]\n{text}\n", encoding="utf-8")
    (warning,) = load_settings(tmp_path, {}, user_folder=tmp_path / "user").warnings
    assert (warning.name, warning.why, warning.code) == (
        f"pipeline.{name}", WarningKind.RESERVED, "reserved",
    )  # fmt: skip
    # A text may be a secret.
    assert "hidden" not in warning.message + warning.given
