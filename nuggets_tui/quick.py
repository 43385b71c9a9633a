"""`nuggets recall` in a hurry: answered from what was made ahead, without what the command line needs otherwise.

What it prints is to the byte what the command `recall` prints. Counting, and making answers ahead, is left to a process
that nobody waits for. Loaded before everything else, so it loads nothing.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Final

    from core.memory import Memory

UNCOUNTED: Final = "warning: the recall could not be counted; the answer is not affected"
# The texts of an answer, in this order.
ERRORS, JSON_ERRORS, LINES, COLOURED_LINES, JSON, INDENTED_JSON = range(6)
_COMMAND: Final = "recall"
# Options with a value, and whether they may stand before the command.
_VALUES: Final = {"--home": True, "--as": True, "--nugget": False, "--session": False}
_PIPE_CLOSED: Final = 141
_INTERRUPTED: Final = 130
_START: Final = (
    "import sys; sys.path.append(sys.argv[1]); from nuggets_tui.made_ahead import main; main(sys.argv[2:])"
)


class Question:
    """A recall as it was typed. home: the folder, absolute; nugget, session, as_name: None where not given."""

    __slots__ = ("as_json", "as_name", "home", "nugget", "query", "session")

    def __init__(self, query: str, home: str, as_json: bool, values: dict[str, str]) -> None:
        self.query = query
        self.home = home
        self.as_json = as_json
        self.nugget = values.get("--nugget")
        self.session = values.get("--session")
        self.as_name = values.get("--as")


def question_of(arguments: Sequence[str]) -> Question | None:
    """The recall that the arguments ask for, where they are the plainest; None leaves them to the command line."""
    if _COMMAND not in arguments:
        return None
    from core.home import team_near
    from core.quick_recall import is_on

    try:
        if not is_on() or team_near(os.getcwd()):
            return None
    except OSError:
        return None
    values: dict[str, str] = {}
    as_json = False
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            words.append(word)
        elif word == "--json":
            as_json = True
        elif name not in _VALUES or name in values or not (_VALUES[name] or words):
            return None
        else:
            value = value if equals else next(rest, "")
            if not value.strip() or value.startswith("-"):
                return None
            values[name] = value
    if len(words) != 2 or words[0] != _COMMAND or not words[1].strip():
        return None
    try:
        "".join((words[1], *values.values())).encode()
        home = _folder(values.get("--home"))
    except (UnicodeEncodeError, OSError):
        return None
    return None if home is None else Question(words[1], home, as_json, values)


def _folder(given: str | None) -> str | None:
    """The memory's folder. Raises OSError where there is no working directory."""
    from core.home import TEAM_NOTES, home_as_named

    path = os.path.expanduser(home_as_named() if given is None else given)
    if os.path.normpath(path).endswith(TEAM_NOTES):
        # Whether an agent may use a team's notes is not known here.
        return None
    if not path.strip() or path.startswith("~"):
        return None
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def recall(asked: Question) -> int | None:
    """Answers from what was made ahead; the exit code. None: nothing was printed or counted, ask the usual way."""
    if sys.stdout is None or sys.stderr is None:
        return None
    from core.quick_recall import quick_answer

    try:
        found = quick_answer(asked.home, asked.query, asked.nugget)
        if found is None:
            return None
        caller = _caller(asked)
        if caller is None:
            return None
        errors, left = found.texts[JSON_ERRORS if asked.as_json else ERRORS], found.others_wait
        if found.counts_in(caller[0]):
            try:
                found.leave(*caller)
                left = True
            except ValueError:
                # Perhaps it can be counted the usual way.
                return None
            except OSError:
                errors = errors if asked.as_json else f"nuggets: {UNCOUNTED}\n".encode() + errors
    except KeyboardInterrupt:
        return _INTERRUPTED
    try:
        return write(errors, found.texts[_form(asked.as_json)], found.code)
    finally:
        if left:
            make_ahead(asked.home, found.folder)


def _caller(asked: Question) -> tuple[str, str] | None:
    """For which session it counts, and the signature of who asks; None for a name that is wrong."""
    calling_agent, session = command_module("calling_agent"), command_module("session")
    at_terminal = _is_terminal(sys.stdin) or _is_terminal(sys.stdout)
    if asked.as_name is None:
        kind, name = calling_agent.parts_of_call(at_terminal=at_terminal)
    else:
        try:
            kind, name = calling_agent.parts_as(asked.as_name)
        except Exception:
            return None
    return session.session_id(asked.session, asked.home), f"{kind}:{name}" if name else kind


def command_module(name: str) -> ModuleType:
    """A module of the command line, without the whole of it that its package loads with itself."""
    from importlib import import_module

    package = "nuggets_tui.cli"
    bare = None
    if package not in sys.modules:
        bare = sys.modules[package] = type(sys)(package)
        bare.__path__ = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli")]
    try:
        return import_module(f"{package}.{name}")
    finally:
        if bare is not None:
            del sys.modules[package]


def _form(as_json: bool) -> int:
    if not _is_terminal(sys.stdout):
        return JSON if as_json else LINES
    if as_json:
        return INDENTED_JSON
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return LINES if plain else COLOURED_LINES


def _is_terminal(stream: object) -> bool:
    try:
        return stream is not None and bool(stream.isatty())  # type: ignore[attr-defined]
    except (ValueError, OSError):
        return False


def write(errors: bytes, text: bytes, code: int) -> int:
    """Writes to standard error and standard output; the exit code, another one where that was not possible."""
    try:
        for stream, data in ((sys.stderr, errors), (sys.stdout, text)):
            handle, rest = stream.fileno() if data else -1, memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
    except BrokenPipeError:
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        from nuggets_tui.cli import exit_code

        return exit_code(error)
    return code


def make_ahead(
    home: str, folder: str | None = None, asked: Question | None = None, memory: Memory | None = None
) -> None:
    """Starts the process that counts what waits and makes answers, unless one is at it: that one looks again before it
    ends. Nobody waits for it, and it holds nothing of this one. asked: a question to keep the answer of. memory: the
    same one, if it was opened, which is of no other use any more: what was worked out for it need not be again.
    """
    from core.quick_recall import cache_of, take_lock

    folder = folder or cache_of(home)
    if folder is None or not os.path.isdir(home):
        return
    lock = take_lock(folder)
    if lock < 0:
        return
    question = [] if asked is None else [asked.query, *([] if asked.nugget is None else [asked.nugget])]
    try:
        if memory is None or not _forked(lock, home, question, memory):
            _spawned(lock, home, question)
    except (OSError, ValueError):
        return
    finally:
        os.close(lock)


def _forked(lock: int, home: str, question: list[str], memory: Memory) -> bool:
    """Whether a copy of this process is at work."""
    from threading import active_count

    # Elsewhere the libraries of the system do not survive it.
    if sys.platform != "linux" or active_count() > 1:
        return False
    from nuggets_tui.made_ahead import work_alone

    memory.close()
    if os.fork() == 0:
        try:
            work_alone(lock, home, question, memory)
        finally:
            os._exit(0)
    return True


def _spawned(lock: int, home: str, question: list[str]) -> None:
    from nuggets_tui.detached import start

    if not sys.executable:
        return
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    words = [sys.executable, "-P", "-c", _START, root, str(lock), home, *question]
    # Handed on, the lock is held from the first moment to the last.
    os.set_inheritable(lock, True)
    start(words)
