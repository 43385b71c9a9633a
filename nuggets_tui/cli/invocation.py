"""What all commands of one call share: the memory, the author, and how to answer or ask."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from core.errors import ErrorCode, InvalidInputError, NotFoundError, StorageError, remedy_for
from core.folder import TEAM_FOLDER, home_as_named
from core.places import home_of
from nuggets_tui.cli.calling_agent import agent_name, author_as, author_of_call
from nuggets_tui.cli.output import Line, as_json, is_terminal, write_document, write_error, write_lines

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import Author
    from core.pipeline.service import Pipeline
    from core.projects import Project
    from core.verbs import Caution

# Exit codes beside 0; bad input is 2.
NOT_FOUND: Final = 1
CONFLICT: Final = 3
NOTHING_CHANGED: Final = "Nothing was changed."
# More than anybody types or hands in; a device or a pipe may never end.
LONGEST_INPUT: Final = 100 * 1024 * 1024
STANDARD_INPUT: Final = "standard input"
# So many warnings are said one by one.
_CAUTIONS: Final = 5


def bad_input(
    what: str,
    where: str,
    kept: str = "nothing was changed",
    todo: str = "",
    code: ErrorCode = ErrorCode.INVALID_INPUT,
) -> InvalidInputError:
    """The error of what cannot be accepted: what is wrong, with which option or argument, what is safe, what to do."""
    return InvalidInputError(what, where=where, kept=kept, todo=todo, code=code)


@dataclass
class Invocation:
    """One call of the program. `home` is the folder given by --home, or None for the usual one.

    `project_name` is the one given by --project, or None for that of the environment and the working directory.
    `as_name` is the name given by --as, or None for whoever the environment tells. `with_vectors`: JSON of notes holds
    their vector recipes. `team`: the team's memory, where this call works on notes of it. `elsewhere`: where a memory
    lies that may be meant, when there is none in the usual folder; "" for nowhere.
    """

    home: str | None = None
    project_name: str | None = None
    as_json: bool = False
    as_name: str | None = None
    with_vectors: bool = False
    team: Memory | None = None
    elsewhere: str = ""
    _memory: Memory | None = None
    _warnings: list[str] | None = None
    _answered: set[str] = field(default_factory=set)
    _beside: list[Memory] = field(default_factory=list)

    # Where, for which project, and by whom

    @property
    def folder(self) -> Path:
        """The memory's home: of --home, else NUGGETS_HOME, else ~/.nuggets. Of pages it lies outside of them; see
        `core.places`.
        """
        given = self.home if self.home is not None else home_as_named()
        if not given.strip():
            raise bad_input("the name is empty", "--home", "", "give a folder", ErrorCode.EMPTY)
        try:
            return home_of(Path(given).expanduser())
        except RuntimeError as error:
            raise bad_input(str(error), given, "", "give the whole path") from error

    @property
    def absolute_folder(self) -> Path:
        """The folder, which may not be there yet. Raises InvalidInputError for what is no folder."""
        folder = self.folder.absolute()
        if folder.exists() and not folder.is_dir():
            code = ErrorCode.WRONG_KIND_OF_FILE
            raise bad_input("is not a folder", str(folder), todo="name the folder of a memory", code=code)
        return folder

    @property
    def project(self) -> Project | None:
        """The project at hand; None for none."""
        from core.projects import project_at, project_named

        if self.project_name is not None:
            return project_named(str(self.folder), self.project_name)
        try:
            return project_at(os.getcwd())
        except FileNotFoundError:
            # Who works in a folder that is gone works on no project.
            return None

    def hand_on_project(self) -> None:
        """What goes on in this process, and what it starts, works in the project that --project names."""
        if self.project_name is not None:
            os.environ["NUGGETS_PROJECT"] = self.project_name

    @property
    def author(self) -> Author:
        """Who makes this call's changes. Raises InvalidInputError for a name that --as cannot have."""
        return author() if self.as_name is None else author_as(self.as_name)

    # The memory

    @property
    def memory(self) -> Memory:
        """The memory, opened once. Opening a folder that is not there creates nothing.

        Raises BrokenFileError when its note graph cannot be read.
        """
        from core.verbs import with_graph

        return with_graph(self.memory_as_it_is if self.team is None else self.team)

    @property
    def memory_as_it_is(self) -> Memory:
        """The memory, opened once, also when its note graph cannot be read: the facts are there then."""
        memory = self._memory or self._open()
        if not self.as_json and self._warnings is None:
            self._warnings = [f"warning: {one.where}: {one.what}" for one in memory.snapshot.problems]
        return memory

    @property
    def memory_with_log(self) -> Memory:
        """The memory, as `memory_as_it_is` gives it. Raises what keeps its log from being read, if anything does."""
        memory = self.memory_as_it_is
        if memory.history.problem is not None:
            raise memory.history.problem
        return memory

    def at(self, *texts: str) -> list[str]:
        """The ids of the notes that texts name. Where they are the team's, `memory` is that of the team from now on.
        Errors as `verbs.held`.
        """
        from core.verbs import held

        found = held(self.memory, *texts)
        self.team = found.memory if found.team else self.team
        return found.ids

    def at_team(self) -> None:
        """Makes `memory` that of the team from now on. Raises NotFoundError where there is none in reach."""
        beside = self.memory.search.beside()
        if beside is None:
            todo = "run this in a project whose repository has this folder"
            raise NotFoundError("no team has notes here", where=str(TEAM_FOLDER), todo=todo)
        self.team = beside.memory

    def _open(self) -> Memory:
        from core.workspace import open_memory, refuse_untrusted, use_team_near

        folder = self.folder
        if not folder.exists():
            self._look_elsewhere(folder)
        memory = open_memory(folder, author=self.author, reconcile=False, tolerant=True)
        if agent_name():
            refuse_untrusted(memory)
        self._memory = memory
        use_team_near(memory, os.getcwd)
        if memory.pages is None:
            project = self.project
            if self.project_name is not None:
                self._must_be_project(memory, project)
            memory.use_project(project)
        return memory

    def _look_elsewhere(self, folder: Path) -> None:
        """Finds the memory that may be meant where there is none."""
        from core.memories import memory_elsewhere

        try:
            found = memory_elsewhere(folder, Path.home())
        except (OSError, RuntimeError):
            return
        if found is not None:
            opens = f"nuggets --home {shlex.quote(found.path)}"
            self.elsewhere = (
                f"there was no memory in {folder}, but there is one in {found.path}; to open it: {opens}"
            )

    def _must_be_project(self, memory: Memory, project: Project | None) -> None:
        """Raises NotFoundError for a name given by --project that no project of a memory has, and no nugget."""
        from core.model.names import did_you_mean
        from core.projects import known_projects, nugget_name

        names = [one.name for one in known_projects(str(self.folder))] + [*memory.snapshot.nugget_names]
        known = {nugget_name(name).casefold() for name in names}
        if project is not None and not project.root and project.nugget.casefold() not in known:
            raise NotFoundError(
                "no project has this name", where=f"--project {project.name}", kept="nothing was asked",
                todo=did_you_mean(project.name, names) or "nuggets projects lists them",
            )  # fmt: skip

    # The pipeline

    @contextmanager
    def pipeline(self) -> Iterator[Pipeline | None]:
        """The pipeline, None where nothing was handed in yet; looking makes none."""
        # Most memories have none, and whoever asks for their status need not wait for what it takes to open one.
        from core.workspace import has_pipeline

        if not has_pipeline(self.folder):
            yield None
            return
        with self.made_pipeline() as pipeline:
            yield pipeline

    @contextmanager
    def needed_pipeline(
        self, missing: str = "no text was submitted yet", todo: str = ""
    ) -> Iterator[Pipeline]:
        """The pipeline. Raises NotFoundError where nothing was handed in yet."""
        with self.pipeline() as pipeline:
            if pipeline is None:
                where = "" if todo else str(self.folder)
                raise NotFoundError(missing, where=where, todo=todo or "submit one with nuggets ingest")
            yield pipeline

    @contextmanager
    def made_pipeline(self, memory: Memory | None = None) -> Iterator[Pipeline]:
        """The pipeline, whose database is made if there is none. memory: that it is to use."""
        from core.pipeline.service import Pipeline

        with Pipeline.open(self.folder, author=self.author, memory=memory) as pipeline:
            if pipeline.notice:
                write_error(f"warning: {pipeline.notice}")
            yield pipeline

    # What is said beside the answer

    def warn(self) -> None:
        """Says once what of the memory could not be read. An error that ends the call is said alone instead."""
        warnings, self._warnings = self._warnings, []
        if warnings:
            write_lines(warnings, to_error=True)

    def drop_warnings(self) -> None:
        """Says nothing of what could not be read when the memory was opened: the answer does, or it was repaired."""
        self._warnings = []

    def note(self, message: str) -> None:
        """One line for a person beside the answer; a program reads it in the document."""
        if message and not self.as_json:
            write_error(message)

    def take_notices(self) -> tuple[str, ...]:
        """What the memory, if it was opened, wants a person to know beside the answer."""
        opened = (self._memory, self.team, *self._beside)
        told = [notice for memory in opened if memory is not None for notice in memory.take_notices()]
        notices = (*told, *filter(None, [self.elsewhere]))
        return tuple(notice for notice in notices if notice not in self._answered)

    def tells_of(self, memory: Memory) -> None:
        """What another memory wants a person to know is said as well."""
        self._beside.append(memory)

    def answers_too(self, told: Sequence[str]) -> None:
        """These stand in the answer itself, and are not said beside it as well."""
        # Several problems of the settings are one notice.
        self._answered |= {*told, "; ".join(told)}

    # Answering and asking

    def answer(
        self,
        document: object,
        lines: Iterable[Line] | Callable[[], Iterable[Line]],
        cautions: Sequence[Caution] = (),
    ) -> None:
        """Answers in the way that was asked for; of what is given as a function, only the wanted form is made.

        document: see `as_json`. cautions: what to warn of beside it, on standard error; in JSON as "warnings" of the
        document, an object then.
        """
        if self.as_json:
            made = document() if callable(document) else document
            write_document(as_json(made) | {"warnings": cautions} if cautions else made)
            return
        told = list(lines() if callable(lines) else lines)
        self.warn()
        write_lines(told)
        warnings = [f"warning: {one.message}" for one in cautions[:_CAUTIONS]]
        if left := len(cautions) - len(warnings):
            warnings.append(f"warning: {left:,} more like these; nuggets secrets lists credentials")
        write_lines(warnings, to_error=True)

    def asks(self, *, yes: bool = False, dry_run: bool = False) -> bool:
        """Whether a person is shown what would be done, and asked before it is."""
        return can_ask() and not yes and not dry_run

    def agreed(
        self, question: str, preview: Iterable[Line] = (), *, yes: bool = False, needs_yes: str = ""
    ) -> bool:
        """Whether to go on: --yes, or a person who was shown the preview and says so. Where nobody can be asked it goes
        on, unless `needs_yes` names a command: InvalidInputError then, behind the preview. Beside a JSON answer that
        goes to standard error.
        """
        if yes or not (can_ask() or needs_yes):
            return True
        if lines := [*preview]:
            self.warn()
            write_lines(lines, to_error=self.as_json or not is_terminal(sys.stdout))
        if not can_ask():
            raise bad_input("not a terminal", needs_yes, todo="pass --yes to go on")
        return click.confirm(question, default=False, err=True)


def can_ask() -> bool:
    """Whether a person sits at standard input."""
    return is_terminal(sys.stdin)


def has_terminal() -> bool:
    """Whether the app can be shown: standard input and output are both a terminal."""
    return is_terminal(sys.stdin) and is_terminal(sys.stdout)


def author() -> Author:
    """Who makes this call's changes, by the environment and the terminal."""
    return author_of_call(at_terminal=is_terminal(sys.stdin) or is_terminal(sys.stdout))


# What is handed in


def read_text(value: str, where: str = STANDARD_INPUT) -> str:
    """The value, or standard input as UTF-8 when it is "-". where: what errors name.

    Raises InvalidInputError for standard input that is closed or holds no text, and for other encodings.
    """
    if value != "-":
        return value
    text = ""
    if sys.stdin is not None:
        ask_to_type()
        text = text_of(sys.stdin.buffer, where=STANDARD_INPUT, kept="nothing was changed")
    if not text.strip():
        what = "is closed" if sys.stdin is None else "is empty"
        raise bad_input(
            what if where == STANDARD_INPUT else f"{STANDARD_INPUT} {what}", where,
            todo="pipe a text into the command, or give it in place of -", code=ErrorCode.EMPTY,
        )  # fmt: skip
    return text


def read_file(file: str, kept: str, *, errors: str = "strict") -> str:
    """What a file, or standard input for "-", holds as UTF-8. errors: as of `bytes.decode`. Raises StorageError, and as
    `read_text`.
    """
    if file == "-":
        return read_text(file)
    try:
        with Path(file).expanduser().open("rb") as stream:
            return text_of(stream, where=file, kept=kept, errors=errors)
    except (OSError, RuntimeError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        remedy = remedy_for(error, Path())
        todo = "" if remedy else "give another file, or -"
        raise StorageError(
            f"cannot be read ({said})", remedy=remedy, where=file, kept=kept, todo=todo
        ) from error


def ask_to_type() -> None:
    """Says at a terminal how a text is ended."""
    if can_ask():
        write_lines(["Type the text. To end it, press ctrl+d on an empty line."], to_error=True)


def text_of(stream: BinaryIO, *, where: str, kept: str, errors: str = "strict") -> str:
    """A whole stream as UTF-8. Raises InvalidInputError for other encodings, and for one that does not end."""
    found = bytes_of(stream, where=where, kept=kept, todo="split it into parts")
    try:
        return found.decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        raise bad_input(f"is not UTF-8 (byte {error.start})", where, kept, "convert it to UTF-8") from error


def bytes_of(stream: BinaryIO, *, where: str, kept: str, todo: str) -> bytes:
    """A whole stream. Raises InvalidInputError for one that does not end."""
    found = stream.read(LONGEST_INPUT + 1)
    if len(found) > LONGEST_INPUT:
        raise bad_input(f"is longer than {LONGEST_INPUT:,} bytes", where, kept, todo, ErrorCode.TOO_LONG)
    return found
