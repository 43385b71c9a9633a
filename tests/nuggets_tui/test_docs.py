"""Tests of the manual: what README and docs/ name is there, and what is there is named."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from nuggets_tui.cli import program
from nuggets_tui.cli.calling_agent import AGENTS
from nuggets_tui.mcp.tools import TOOLS
from tools.command_table import with_table

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Letters that make an anchor of a heading, as GitHub has it.
_ANCHOR = re.compile(r"[^\w\- ]")


def anchors(page: Path) -> set[str]:
    """What a link into a page may name."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {_ANCHOR.sub("", head.lower()).replace(" ", "-") for head in heads}


def test_every_link_of_the_manual_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            if target.startswith("http"):
                continue
            name, _, anchor = target.partition("#")
            found = (page.parent / name).resolve() if name else page
            assert found.is_file(), target
            assert not anchor or anchor in anchors(found), target


def test_the_manual_names_every_command_as_its_help_does() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert with_table(page) == page, "renew it: python -m tools.command_table docs/commands.md"
    context = click.Context(program)
    assert all(f"`nuggets {name}" in page for name in program.list_commands(context))


def test_every_page_of_the_manual_is_reached_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = (page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md"))
    assert not [page for page in pages if f"]({page}" not in readme]


def test_the_glossary_says_each_word_once_and_no_more_than_forty() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(words) == len(set(words)) <= 40


def test_the_manual_names_every_agent_and_the_variables_that_tell_it() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (`.+`) \|$", text, re.MULTILINE)
    told = {name: tuple(re.findall(r"`([^`]+)`", variables)) for name, variables in rows}
    assert told == {agent.name: agent.variables for agent in AGENTS}


def test_the_manual_names_every_tool_of_agents_and_no_other() -> None:
    text = (ROOT / "docs" / "agents" / "mcp.md").read_text(encoding="utf-8")
    table = text.partition("## What the agent can do")[2].partition("\n\nThe resource")[0]
    named = {
        name
        for row in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert named == {tool.name for tool in TOOLS}


# Files of a memory and of its cache, which are named in the words of the house.
_OF_A_MEMORY = {"graph.json", "nuggets.db", "settings.toml", "MEMORY.md"}
_PATH = re.compile(r"[\w./-]+\.(?:py|md|toml|db|json)|[\w-]+(?:/[\w-]+)*/")


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md", "docs/internals.md"])
def test_every_file_that_the_house_is_shown_by_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    tops = ("core", "nuggets_tui", "tests", "docs", "tools")
    there = {
        path.relative_to(ROOT).as_posix()
        for top in tops
        for path in (ROOT / top).rglob("*")
        if path.suffix != ".pyc"
    } | {path.name for path in ROOT.iterdir()}
    ends = {
        path[start:] for path in there for start in range(len(path)) if not start or path[start - 1] == "/"
    }
    named = [one for span in re.findall(r"`([^`\n]+)`", text) for one in span.split() if _PATH.fullmatch(one)]
    block = re.search(r"^```\n(nuggets_tui/.*?)^```", text, re.DOTALL | re.MULTILINE)
    named += (
        re.findall(r"[\w/]+\.py|(?<=^)[\w/]+/|(?<= )[\w/]+/(?= )", block[1], re.MULTILINE) if block else []
    )
    assert len(named) > 20
    assert not [one for one in named if one.removeprefix("/").rstrip("/") not in ends | _OF_A_MEMORY]
