"""Which agent runs a command: one table of the environment variables by which agents tell their commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from core.model.change import Author

_LONGEST: Final = 64
# What a person types for themselves, and kinds of authors that no agent may be taken for.
_PERSON: Final = frozenset(("me", "person", "you"))
_TAKEN: Final = frozenset(("pipeline", "program", "reflection"))
_FLAGS: Final = frozenset(("0", "1", "false", "no", "off", "on", "true", "yes"))


class Agent(NamedTuple):
    """An agent and what it sets in the environment of each command that it runs.

    variables: any of these, set to anything, is a sign of it; "NAME=value" asks for that value. session: the variable
    that names the conversation. also: other names it goes by.
    """

    name: str
    variables: tuple[str, ...]
    session: str = ""
    also: tuple[str, ...] = ()


# Only what agents set for the commands they run, not what an editor sets for every terminal in it.
AGENTS: Final = (
    Agent("claude", ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"), "CLAUDE_CODE_SESSION_ID", ("claude code",)),
    Agent("codex", ("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI"), "CODEX_THREAD_ID", ("codex cli",)),
    Agent("opencode", ("OPENCODE",)),
    Agent("gemini", ("GEMINI_CLI",), also=("gemini cli",)),
    Agent("cursor", ("CURSOR_AGENT",), also=("cursor agent", "cursor cli")),
    Agent("copilot", ("COPILOT_CLI", "COPILOT_AGENT"), also=("github copilot", "github copilot cli")),
    Agent("pi", ("PI_CODING_AGENT",)),
    Agent("amp", ("AGENT=amp",)),
    Agent("goose", ("GOOSE_TERMINAL", "AGENT=goose")),
    Agent("qwen", ("QWEN_CODE",), also=("qwen code",)),
    Agent("crush", ("CRUSH",)),
    Agent("augment", ("AUGMENT_AGENT",), also=("augment cli",)),
    Agent("antigravity", ("ANTIGRAVITY_AGENT",)),
)
# Where an agent that is not in the table may write its name.
_ANY_AGENT: Final = "AI_AGENT"


def agent_name() -> str:
    """The agent that this process runs for, "" for none that is known.

    An agent run by another one inherits its variables, and which of the two is within is not to be told: both names
    stand then, in the order of the table.
    """
    found = [agent.name for agent in AGENTS if any(map(_is_set, agent.variables))]
    if found:
        return "+".join(found)
    said = _named(_ANY_AGENT)
    return "" if said.lower() in _FLAGS else _known(said)[:_LONGEST]


def sessions() -> Iterator[str]:
    """The conversations that agents name in the environment, in the order of the table."""
    for agent in AGENTS:
        said = os.environ.get(agent.session, "").strip() if agent.session else ""
        if said:
            yield said


def author_as(name: str) -> Author:
    """The author that `--as` names: "me" is a person, anything else an agent.

    Raises InvalidInputError for an empty or long name, one that cannot be shown, and for what is no agent.
    """
    from core.errors import InvalidInputError
    from core.model.change import Author

    said = " ".join(name.split())
    if said.casefold() in _PERSON:
        return Author("person", _own_name())
    wrong = (
        "the name is empty" if not said
        else "contains characters that cannot be shown" if not said.isprintable()
        else f"is longer than {_LONGEST} characters" if len(said) > _LONGEST
        else f'"{said}" is not an agent' if said.casefold() in _TAKEN
        else ""
    )  # fmt: skip
    if wrong:
        todo = "name an agent, such as codex, or me"
        raise InvalidInputError(wrong, where="--as", kept="nothing was changed", todo=todo)
    return Author("agent", _known(said))


def refuse_agents(what: str) -> None:
    """Refuses what a person decides where an agent runs this command. what: a clause such as "promoting".

    Raises InvalidInputError.
    """
    agent = agent_name()
    if agent:
        from core.errors import InvalidInputError

        raise InvalidInputError(
            f"{what} is a person's decision, and {agent} runs this command",
            kept="nothing was changed", todo="do it in the app or in a terminal of your own",
        )  # fmt: skip


def author_of_client(name: str) -> Author:
    """Who writes through a connection whose program calls itself so, "" for one that says nothing: always an agent.

    NUGGETS_AUTHOR goes before, and what the environment tells behind. No program passes for a person, nor for what
    writes by itself.
    """
    from core.model.change import Author

    said = " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())[:_LONGEST]
    if said.casefold() in _PERSON | _TAKEN:
        said = ""
    return Author("agent", _own_name() or _known_client(said) or agent_name() or "agent")


def author_of_call(*, at_terminal: bool) -> Author:
    """Who makes this call's changes: an agent that says so in the environment, else a person at a terminal, else an
    agent that does not. NUGGETS_AUTHOR names any of them.
    """
    from core.model.change import UNNAMED, Author

    agent = agent_name()
    if at_terminal and not agent:
        return Author("person", _own_name())
    return Author("agent", _own_name() or agent or UNNAMED)


def _known_client(name: str) -> str:
    """The agent of a client: as the table knows it, or by the word that it begins with, as in "codex-mcp-client"."""
    known = _known(name)
    first = known.casefold().replace("-", " ").replace("_", " ").partition(" ")[0]
    return next((agent.name for agent in AGENTS if agent.name == first), known)


def _own_name() -> str:
    return _named("NUGGETS_AUTHOR")


def _named(variable: str) -> str:
    """The name in a variable, on one line, without characters that cannot be shown."""
    said = " ".join(os.environ.get(variable, "").split())
    return "".join(filter(str.isprintable, said))


def _is_set(variable: str) -> bool:
    name, wants, value = variable.partition("=")
    said = os.environ.get(name, "").strip()
    return said.lower() == value if wants else bool(said) and said.lower() not in ("0", "false")


def _known(name: str) -> str:
    """A name as the table has it, in whatever spelling; one that is not in it as it is."""
    folded = name.casefold().replace("-", " ").replace("_", " ")
    return next((agent.name for agent in AGENTS if folded in (agent.name, *agent.also)), name)
