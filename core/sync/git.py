"""The user's own git, run with deadlines and without a shell. The work tree is never checked out or merged."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from core.errors import ErrorCode, SyncError

LOCAL_SECONDS: Final = 120.0
REMOTE_SECONDS: Final = 600.0
# How long a remote may say nothing: to somebody who waits for the answer, and to a sync that nobody asked for.
BY_HAND_SILENCE: Final = 60.0
UNATTENDED_SILENCE: Final = 20.0
# Settings by which the user says so themselves.
_OWN_SPEED: Final = r"^http\.(.*\.)?lowspeed(limit|time)$"
_OWN_SSH: Final = r"^core\.sshcommand$"
_OWN_SSH_VARIABLES: Final = ("GIT_SSH_COMMAND", "GIT_SSH")
_LOOK_SECONDS: Final = 0.2
# What a caller that is itself run by git, such as a hook, has set for another repository.
_OF_ANOTHER: Final = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
)  # fmt: skip
# A file of this size is no memory, nor are files that have it together.
LARGEST: Final = 512 * 1024 * 1024
_MODE: Final = "100644"
_PLAIN: Final = ("100644", "100755")
_LONGEST: Final = 300
# What a folder has that belongs to its machine alone.
OF_THIS_MACHINE: Final = ("nuggets.db*", "backups/", "quarantine/", ".nuggets.*")
KEPT: Final = "your memory is unchanged"
# .git, also as Windows and macOS spell it.
_GIT_FOLDER: Final = re.compile(r"(\.git|git~\d+)[ .]*(:.*)?")
# With room for what is put before and behind it while it is written, in bytes.
_LONGEST_NAME: Final = 200
_ADDRESS: Final = re.compile(r"\b[\w+.-]+://\S+")


class Ran(NamedTuple):
    """How a run of git ended. seconds: how long it took."""

    code: int
    out: bytes
    error: str
    seconds: float = 0.0


class Blob(NamedTuple):
    """A file of a commit."""

    mode: str
    id: str
    size: int

    @property
    def plain(self) -> bool:
        """Whether it is a file, and no link and no submodule."""
        return self.mode in _PLAIN


@dataclass(frozen=True)
class Git:
    """Runs git in a folder. asks: whether somebody sits there who can answer when git asks for a password. look: called
    again and again while git runs; what it raises ends git. silence: seconds after which a remote that says nothing is
    given up, unless the user's own settings say so.
    """

    folder: Path
    asks: bool = False
    look: Callable[[], object] | None = None
    silence: float = BY_HAND_SILENCE

    def run(
        self,
        *words: str,
        given: bytes | None = None,
        seconds: float = LOCAL_SECONDS,
        index: Path | None = None,
        program: Sequence[str] = ("git",),
    ) -> Ran:
        """One run. index: the file to use in place of the repository's index. Raises SyncError where git is missing or
        does not end in time.
        """
        environ = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
        environ |= {"LC_ALL": "C", "LANGUAGE": "C"}
        if not self.asks:
            environ["GIT_TERMINAL_PROMPT"] = "0"
        if index is not None:
            environ["GIT_INDEX_FILE"] = str(index)
        try:
            process = subprocess.Popen(
                [*program, *words],
                cwd=self.folder,
                env=environ,
                stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Without a terminal nothing that git starts can ask, not even ssh.
                start_new_session=not self.asks,
            )
        except OSError as error:
            if not self.folder.is_dir():
                raise stopped("there is no such folder", ErrorCode.NOT_FOUND, str(self.folder)) from error
            missing = isinstance(error, FileNotFoundError)
            what = "is not installed, or not on the PATH" if missing else f"cannot be run ({error.strerror})"
            todo = "install git and try again" if missing else ""
            raise stopped(f"git {what}", ErrorCode.NO_GIT, todo=todo) from error
        began = time.monotonic()
        try:
            out, said = self._communicated(process, given, seconds)
        except subprocess.TimeoutExpired as error:
            self._end(process)
            what = f"git {words[0]} did not end within {seconds:.0f} seconds"
            raise stopped(what, ErrorCode.GIT_FAILED, todo="try again") from error
        except BaseException:
            self._end(process)
            raise
        return Ran(process.returncode, out, said.decode(errors="replace"), time.monotonic() - began)

    def run_remote(self, *words: str, silence: float | None = None, seconds: float = REMOTE_SECONDS) -> Ran:
        """One run that asks a remote, which may take long but not say nothing for long. silence: in place of the one
        that counts otherwise. Raises as `run`.
        """
        program = ("git", *self._patience(self.silence if silence is None else silence))
        return self.run(*words, program=program, seconds=seconds)

    def _patience(self, silence: float) -> Iterator[str]:
        """Words for git by which it gives a silent remote up. What the user set themselves counts."""
        seconds = max(1, round(silence))
        if not self.line("config", "--get-regexp", _OWN_SPEED):
            yield from ("-c", "http.lowSpeedLimit=1", "-c", f"http.lowSpeedTime={seconds}")
        if not any(os.environ.get(name) for name in _OWN_SSH_VARIABLES) and not self.line(
            "config", "--get-regexp", _OWN_SSH
        ):
            # The first is about the way there, the second about a connection that is lost later.
            alive = f"-o ServerAliveInterval={max(1, seconds // 2)} -o ServerAliveCountMax=1"
            yield from ("-c", f"core.sshCommand=ssh -o ConnectTimeout={seconds} {alive}")

    def _communicated(
        self, process: subprocess.Popen[bytes], given: bytes | None, seconds: float
    ) -> tuple[bytes, bytes]:
        """What git says. Raises TimeoutExpired, and what `look` raises."""
        while self.look is not None and seconds > _LOOK_SECONDS:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.communicate(given, timeout=_LOOK_SECONDS)
            # It goes on with what it was given.
            given, seconds = None, seconds - _LOOK_SECONDS
            self.look()
        return process.communicate(given, timeout=seconds)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Ends git, so that it removes its locks; with all that it started, where these are a group of their own."""
        with contextlib.suppress(OSError):
            if self.asks:
                process.terminate()
            else:
                os.killpg(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    def get(self, *words: str, given: bytes | None = None, index: Path | None = None) -> bytes:
        """What git answers. Raises SyncError where it fails, with the last thing that it said."""
        ran = self.run(*words, given=given, index=index)
        if ran.code:
            raise failed(ran, words[0])
        return ran.out

    def line(self, *words: str) -> str:
        """An answer of one line; "" where git has none."""
        ran = self.run(*words)
        return ran.out.decode(errors="surrogateescape").removesuffix("\n") if ran.code == 0 else ""


def stopped(what: str, code: ErrorCode, where: str = "", todo: str = "", *, kept: str = KEPT) -> SyncError:
    """The error for what keeps a sync from going on."""
    return SyncError(what, code=code, where=where, kept=kept, todo=todo)


def failed(ran: Ran, what: str, *, todo: str = "") -> SyncError:
    """The error for a run that failed."""
    return stopped(f"git {what} failed: {last_said(ran)}", ErrorCode.GIT_FAILED, todo=todo)


def last_said(ran: Ran) -> str:
    """What git said about why it failed, as one short line."""
    lines = [line.strip() for line in ran.error.splitlines() if line.strip() and not line.startswith("hint:")]
    said = " ".join(" ".join(lines[-3:]).split()) or f"exit code {ran.code}"
    plain = "".join(char for char in said if char.isprintable())
    return _ADDRESS.sub(lambda found: without_password(found[0]), plain)[:_LONGEST]


def without_password(address: str) -> str:
    """An address as it may be shown and kept: without a password, or a token in the place of a user's name."""
    scheme, found, rest = address.partition("://")
    before, at, place = rest.rpartition("@")
    if not found or not at:
        return address
    user = before.partition(":")[0]
    return f"{scheme}://{user}@{place}" if "ssh" in scheme and "/" not in user else f"{scheme}://{place}"


@dataclass(frozen=True)
class GitFolder:
    """The repository that a memory's folder is in.

    top: its work tree. private: its own folder, .git. prefix: the memory's folder from the top on, "" or with a slash
    at the end.
    """

    git: Git
    top: Path
    private: Path
    prefix: str

    @classmethod
    def of(cls, git: Git) -> GitFolder | None:
        """The repository around git's folder; None for none. Raises SyncError for one that git refuses to work in."""
        folder = git.folder
        if not folder.is_dir():
            return None
        asked = "--is-inside-work-tree", "--absolute-git-dir", "--show-toplevel", "--show-prefix"
        ran = git.run("rev-parse", *asked)
        lines = ran.out.decode(errors="surrogateescape").split("\n")[:-1]
        if ran.code or not lines or lines[0] != "true":
            if ran.code and any((each / ".git").exists() for each in (folder, *folder.parents)):
                # It looks to be in one, whatever git says of it.
                raise failed(ran, "rev-parse")
            return None
        if len(lines) != len(asked):
            # A path with a line break in it.
            lines = [git.line("rev-parse", one) for one in asked]
        return cls(git, Path(lines[2]), Path(lines[1]), lines[3])

    @property
    def own(self) -> Path:
        """Where what only this machine needs of the sync lies."""
        return self.private / "nuggets"

    @property
    def is_shared(self) -> bool:
        """Whether the repository has more in it than the memory."""
        return self.prefix != ""

    def under_way(self) -> str:
        """What somebody has begun with git and not finished; "" for nothing."""
        known = {
            "MERGE_HEAD": "a merge", "rebase-merge": "a rebase", "rebase-apply": "a rebase",
            "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert",
        }  # fmt: skip
        return next((what for name, what in known.items() if (self.private / name).exists()), "")

    def branch(self) -> str:
        """The branch that is checked out, "" where there is none (a detached head)."""
        # In full: where a tag has the same name, git's short form is another one.
        return self.git.line("symbolic-ref", "-q", "HEAD").removeprefix("refs/heads/")

    def commit_of(self, name: str) -> str:
        """The commit that a name stands for; "" for none."""
        return self.git.line("rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}")

    def is_ancestor(self, one: str, other: str) -> bool:
        """Whether all of `one` is in `other`."""
        return one == other or self.git.run("merge-base", "--is-ancestor", one, other).code == 0

    def merge_base(self, one: str, other: str) -> str:
        """The newest commit that two have in common; "" for none."""
        return self.git.line("merge-base", one, other)

    def files(self, commit: str) -> dict[str, Blob]:
        """The memory's folder in a commit: every file by its path in it. Raises SyncError."""
        if not commit:
            return {}
        words = ["ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", commit]
        found: dict[str, Blob] = {}
        for line in self.git.get(*words, *([self.prefix] if self.prefix else [])).split(b"\0"):
            about, tab, name = line.partition(b"\t")
            if tab:
                mode, _, id, size = about.decode().split()
                path = name.decode(errors="surrogateescape")[len(self.prefix) :]
                found[path] = Blob(mode, id, int(size) if size.isdigit() else 0)
        return found

    def contents(self, blobs: Mapping[str, Blob]) -> dict[str, bytes]:
        """The bytes of files. Raises SyncError, also for what is no plain file or too large to be one of a memory."""
        for path, blob in blobs.items():
            if not blob.plain:
                raise stopped("is no plain file there", ErrorCode.REMOTE, path)
        if sum(blob.size for blob in blobs.values()) > LARGEST:
            largest = max(blobs, key=lambda path: blobs[path].size)
            raise stopped("is too large to be followed", ErrorCode.REMOTE, largest)
        if not blobs:
            return {}
        given = "".join(f"{blob.id}\n" for blob in blobs.values()).encode()
        out = self.git.get("cat-file", "--batch", given=given)
        found: dict[str, bytes] = {}
        place = 0
        for path in blobs:
            end = out.index(b"\n", place)
            about = out[place:end].split()
            if len(about) != 3:
                what = "is missing from the repository"
                raise stopped(what, ErrorCode.GIT_FAILED, path, "git fsck says more")
            size = int(about[2])
            found[path] = out[end + 1 : end + 1 + size]
            place = end + 2 + size
        return found

    def store(self, contents: Mapping[str, bytes]) -> dict[str, Blob]:
        """Puts files into the repository, byte for byte. Raises SyncError."""
        words = ("hash-object", "-w", "--stdin")
        ids = (self.git.get(*words, given=data).decode().strip() for data in contents.values())
        return {
            path: Blob(_MODE, id, len(data)) for (path, data), id in zip(contents.items(), ids, strict=True)
        }

    def tree(self, start: str, changes: Mapping[str, Blob | None], index: Path) -> str:
        """The tree of a commit ("" for an empty one) with some files of the memory set or taken out (None)."""
        if not start or self.git.run("read-tree", start, index=index).code:
            self.git.get("read-tree", "--empty", index=index)
            whole = replace(self, prefix="")
            whole.set_in_index(whole.files(start), index)
        self.set_in_index(changes, index)
        # Nothing here is compared with the folder, which would run a filter that the remote asks for.
        held = self.git.get("ls-files", "-z", index=index)
        self.git.get("update-index", "-z", "--skip-worktree", "--stdin", given=held, index=index)
        return self.git.get("write-tree", index=index).decode().strip()

    def set_in_index(self, changes: Mapping[str, Blob | None], index: Path | None = None) -> None:
        """Sets files of the memory in an index, by default the user's, or takes them out (None). Where git takes one of
        them into no index, only those are set that surely may stand in a folder.
        """
        gone = Blob("0", "0" * 40, 0)
        told = ((blob or gone, path) for path, blob in changes.items())
        lines = "".join(f"{blob.mode} {blob.id}\t{self.prefix}{path}\0" for blob, path in told)
        try:
            if lines:
                given = lines.encode(errors="surrogateescape")
                self.git.get("update-index", "--replace", "-z", "--index-info", given=given, index=index)
        except SyncError:
            sound = {path: one for path, one in changes.items() if is_sound(path) and (not one or one.plain)}
            if len(sound) == len(changes):
                raise
            self.set_in_index(sound, index)

    def put_index_in_step(self, commit: str, is_ours: Callable[[str], bool], former: str = "") -> None:
        """Has the user's index hold the memory's files as a commit has them; what else is staged stays.

        former: the commit before, "" for none. Other files that came since, such as a README, are in the index as well
        and marked as left out of the folder, where they are not checked out: they are neither staged nor deleted then.
        """
        there, before = self.files(commit), self.files(former)
        held: dict[str, str] = {}
        listed = self.git.get("ls-files", "-s", "-z", "--full-name", "--", str(self.top / self.prefix))
        for line in listed.split(b"\0"):
            about, tab, name = line.partition(b"\t")
            if tab:
                path = name.decode(errors="surrogateescape")[len(self.prefix) :]
                held[path] = about.split()[1].decode()
        changes: dict[str, Blob | None] = {}
        for path in {*there, *before, *held}:
            new, old = there.get(path), before.get(path)
            # What the user staged of other files, a deletion as well, stays staged.
            wanted = is_ours(path) or (new != old and held.get(path) == (old.id if old else None))
            if wanted and held.get(path) != (new.id if new else None):
                changes[path] = new
        self.set_in_index(changes)
        new_ones = (path for path, blob in changes.items() if blob and not is_ours(path))
        self.leave([path for path in new_ones if not os.path.lexists(self.top / self.prefix / path)])

    def leave(self, paths: Iterable[str]) -> None:
        """Has git not tell that files of the folder are others than the index has, or none."""
        given = "".join(f"{self.prefix}{path}\0" for path in paths).encode(errors="surrogateescape")
        if given:
            Git(self.top).run("update-index", "-z", "--skip-worktree", "--stdin", given=given)

    def others_differ(self, one: str, other: str) -> bool:
        """Whether two commits differ in files that are none of the memory's folder."""
        rest = (":/", f":(top,exclude,literal){self.prefix}")
        ran = self.git.run("diff", "--quiet", "--no-ext-diff", one, other, "--", *rest)
        if ran.code not in (0, 1):
            raise failed(ran, "diff")
        return ran.code == 1

    def commit(self, message: str, parent: str, index: Path) -> str:
        """Commits what an index holds onto the branch, as the user would: with their hooks, name and signature. parent:
        the commit that the index was made of, "" for none; where the branch has another one by now, the commit is taken
        back, since it would undo that one.
        """
        ran = self.git.run(
            "commit", "--quiet", "--cleanup=verbatim", "--allow-empty", "-F", "-", given=message.encode(), index=index,
            seconds=REMOTE_SECONDS,
        )  # fmt: skip
        if ran.code:
            raise self._no_commit(ran, "commit")
        new = self.commit_of("HEAD")
        found = self.commit_of(f"{new}^")
        if found != parent:
            self.git.get("update-ref", "-m", "nuggets sync: took back", "HEAD", found, new)
            what = "somebody else committed at the same moment"
            raise stopped(what, ErrorCode.GIT_UNDER_WAY, str(self.top), "try again: nuggets sync")
        return new

    def commit_merge(self, message: str, tree: str, parents: Sequence[str]) -> str:
        """Makes a commit of two histories, with the user's name and signature; no branch leads to it yet."""
        sign = ["-S"] if self.git.line("config", "--type=bool", "commit.gpgsign") == "true" else []
        words = [word for parent in parents for word in ("-p", parent)]
        ran = self.git.run("commit-tree", tree, *words, *sign, given=message.encode(), seconds=REMOTE_SECONDS)
        if ran.code:
            raise self._no_commit(ran, "commit-tree")
        return ran.out.decode().strip()

    def _no_commit(self, ran: Ran, what: str) -> SyncError:
        if self.git.run("var", "GIT_COMMITTER_IDENT").code:
            return SyncError(
                "git does not know your name yet", code=ErrorCode.GIT_FAILED, kept=KEPT,
                todo='git config --global user.name "Your Name" and git config --global user.email you@example.com',
            )  # fmt: skip
        return failed(ran, what, todo="fix what git, or your hook, asks for, then: nuggets sync")

    def move_branch(self, branch: str, new: str, old: str, why: str) -> None:
        """Has a branch lead to another commit, if it still leads to `old` ("": if there is none). Raises SyncError."""
        zero = "0" * len(new)
        self.git.get("update-ref", "-m", f"nuggets sync: {why}", f"refs/heads/{branch}", new, old or zero)


def is_sound(path: str) -> bool:
    """Whether a path of a commit may stand in a folder of any system: it leads nowhere else, and not into .git."""
    parts = path.lower().split("/")
    return (
        path.isprintable()
        and "\\" not in path
        and not any(part in ("", ".", "..") or _GIT_FOLDER.fullmatch(part) for part in parts)
        and all(len(part.encode()) <= _LONGEST_NAME for part in parts)
    )
