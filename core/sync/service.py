"""Sync: commits what changed, takes in what others pushed, and pushes; the memory is changed by change sets alone.

The files that agents read are never checked out or merged by git. A commit is made of the bytes that were read; what a
remote has comes in as a change set; and a merge commit holds what the folder then holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import ErrorCode, NuggetsError, SyncError
from core.folder import GRAPH_FILE, is_fact_file, is_team_folder
from core.services.arrivals import Arrived, Version, differing, is_memory_file, to_store
from core.settings import SETTINGS_FILE
from core.storage.files.others import scratch_folder
from core.sync.git import (
    KEPT,
    OF_THIS_MACHINE,
    REMOTE_SECONDS,
    UNATTENDED_SILENCE,
    Blob,
    Git,
    GitFolder,
    Ran,
    is_sound,
    last_said,
    stopped,
    without_password,
)
from core.sync.kept import SETTINGS_FILES, Incoming, Kept, followed, one_at_a_time, read_kept, write_kept
from core.sync.state import AUTHOR_TRAILER, MACHINE_TRAILER, Commit, SyncResult, SyncState, arrival, message

if TYPE_CHECKING:
    from core.memory import Memory

# How often a sync begins again because somebody pushed in between.
_TURNS: Final = 8
_COMMITS: Final = 200
# Whether a remote is there that was silent already.
_LOOK_AGAIN: Final = 5.0
_ENTRIES: Final = 5_000
# Fields end with the one byte that no commit can have in it.
_LOG: Final = "%s%x00%an%x00%(trailers:only,unfold)"
_COMMITTED: Final = "your changes are committed"
_NEVER_SENT: Final = (*OF_THIS_MACHINE, SETTINGS_FILE)
# Told now and then what a sync is at. What it raises ends the sync between two steps.
Step = Callable[[str], None]


class _Offline(Exception):
    """The remote cannot be reached."""


class Sync:
    """The sync of one memory, which is open. asks: whether somebody can answer when git asks for a password. look:
    called again and again while git runs; what it raises ends git and the sync. silence: seconds after which a remote
    that says nothing is given up, unless git's own settings say so.
    """

    def __init__(
        self, memory: Memory, *, asks: bool = False, step: Step = lambda _: None,
        look: Callable[[], object] | None = None, silence: float = UNATTENDED_SILENCE,
    ) -> None:  # fmt: skip
        self._memory = memory
        self._step = step
        self._git = Git(memory.home, asks, look, silence)

    def state(self, *, refresh: bool = True) -> SyncState:
        """How the memory stands, without asking the remote. refresh: whether what other programs changed is read first.
        Raises SyncError, StorageError, BrokenFileError.
        """
        folder = GitFolder.of(Git(self._memory.home))
        kept = read_kept(folder) if folder is not None else None
        if folder is None or kept is None:
            return SyncState()
        if refresh:
            self._memory.refresh_read_only()
        return _Run(self._memory, folder, kept, self._step).state()

    def run(self) -> SyncResult:
        """One sync. Without the remote it commits, and says so in the state. Raises SyncError for what keeps it from
        going on, LockTimeoutError while another one runs, and what `Memory.apply` raises; what was done by then stays,
        and the next sync goes on from there.
        """
        if self._memory.pages is not None:
            raise refuse_pages(self._memory.pages)
        folder, kept = followed(self._git)
        with one_at_a_time(folder):
            kept = read_kept(folder) or kept
            run = _Run(self._memory, folder, kept, self._step)
            try:
                return run.sync()
            except NuggetsError as error:
                run.keep(
                    problem=error.what, where=error.where, safe=error.kept, todo=error.todo, offline=False
                )
                raise


class _Run:
    """One sync at work. Git's answers are kept only as long as nobody else could have changed them."""

    def __init__(self, memory: Memory, folder: GitFolder, kept: Kept, step: Step) -> None:
        self.memory = memory
        self.folder = folder
        self.git = folder.git
        self.local = kept
        self.done = SyncResult(SyncState())
        self.step = step
        self._versions: dict[tuple[str, str], Version] = {}

    def keep(self, **changes: object) -> None:
        """Keeps some of what is known for the next sync."""
        new = msgspec.structs.replace(self.local, **changes)
        if new != self.local:
            self.local = new
            write_kept(self.folder, new)

    # The whole of it

    def sync(self) -> SyncResult:
        """See `Sync.run`."""
        branch = self._check()
        self.step("reading the memory")
        self.memory.refresh()
        offline, behind, former = False, True, self.head(branch)
        self.commit(branch)
        self.finish_interrupted(branch)
        if self.local.remote:
            try:
                for _ in range(_TURNS):
                    behind = not self._turn(branch)
                    if not behind:
                        break
            except _Offline as error:
                offline = True
                self.keep(problem=str(error), where="", safe="", todo="")
        head = self.head(branch)
        if head:
            # While somebody uses the index, or where a killed git left its lock, the next sync does it.
            with suppress(SyncError):
                self.folder.put_index_in_step(head, _is_ours, former)
                self._leave_settings_files(head)
        if behind and self.local.remote and not offline:
            kept = "what came in is in your memory, and your changes are committed"
            what, todo = "others keep pushing to the remote", "try again: nuggets sync"
            raise stopped(what, ErrorCode.REMOTE, self.local.remote, todo, kept=kept)
        done = self.done
        at = self.memory.now()
        self.keep(
            at=at, came_in=done.came_in, offline=offline, problem=self.local.problem if offline else "",
            logged=self.local.logged, entries=done.change_sets or self.local.entries, where="", safe="", todo="",
        )  # fmt: skip
        return replace(done, state=self.state())

    def state(self) -> SyncState:
        """See `Sync.state`."""
        kept = self.local
        to_send = 0
        if kept.remote:
            to_send = differing(self.version(kept.synced), self.memory.arrivals.here())
        address = self.git.line("remote", "get-url", "--", kept.remote) if kept.remote else ""
        return SyncState(
            set_up=True, remote=without_password(address), branch=kept.branch, machine=kept.machine, to_send=to_send,
            came_in=kept.came_in, conflicts=len(self.memory.history.conflicts()), offline=kept.offline,
            problem=kept.problem, where=kept.where, safe=kept.safe, todo=kept.todo, at=kept.at, entries=kept.entries,
        )  # fmt: skip

    def _check(self) -> str:
        """The branch to sync. Raises SyncError for a repository in which nothing can be committed now."""
        under_way, branch, wanted = self.folder.under_way(), self.folder.branch(), self.local.branch
        where = str(self.folder.top)
        if under_way:
            what = f"git is in the middle of {under_way}"
            todo = "finish it, or take it back with --abort, then: nuggets sync"
        elif not branch:
            what = "no branch is checked out (detached HEAD)"
            todo = f"git switch {wanted}, then: nuggets sync"
        elif branch != wanted:
            what = f"the branch {branch} is checked out, and the sync is set up for {wanted}"
            todo = f"git switch {wanted}, or set it up anew: nuggets sync init"
        else:
            return branch
        raise stopped(what, ErrorCode.GIT_UNDER_WAY, where, todo)

    def head(self, branch: str) -> str:
        """The newest commit of the branch, "" for none yet."""
        return self.folder.commit_of(f"refs/heads/{branch}")

    # Versions

    def version(self, commit: str, former: str = "") -> Version:
        """The memory as a commit has it; an empty one for "". former: the commit whose files count where this one has
        something else in their places, such as a link. Raises what keeps it from being read.
        """
        if (commit, former) not in self._versions:
            files = self.folder.files(commit)
            odd = frozenset(_left_out(files))
            known = {path: blob for path, blob in files.items() if is_memory_file(path) and path not in odd}
            contents = self.folder.contents(known)
            if former and odd:
                held = self.version(former).contents
                contents |= {path: data for path, data in held.items() if {path, path.split("/")[0]} & odd}
            made = self.memory.arrivals.version(contents, f"commit {commit[:10]}")
            self._versions[commit, former] = made
        return self._versions[commit, former]

    # Committing

    def commit(self, branch: str) -> bool:
        """Commits what changed here since the newest commit; whether anything did."""
        head = self.head(branch)
        present = self.memory.arrivals.here()
        held = self.folder.files(head)
        changes = self._changes(present, head, held)
        if not changes:
            return False
        self.step("committing")
        count = differing(self.version(head), present)
        newest = self.memory.history.newest()
        with self._index() as index:
            self.folder.tree(head, changes, index)
            self.folder.commit(message(self._authors(), self.local.machine, count=count), head, index)
        self.done = replace(self.done, committed=self.done.committed + count)
        self.keep(logged=newest)
        return True

    def _changes(self, present: Version, commit: str, held: dict[str, Blob]) -> dict[str, Blob | None]:
        """What a commit of the present has otherwise than another commit."""
        new = {path: data for path, data in self._settings_files().items() if path not in held}
        gone: set[str] = set()
        known = self.version(commit)
        if known.contents != present.contents:
            for path, data in to_store(present, known).items():
                if data is None:
                    gone.add(path)
                else:
                    new[path] = data
        if not commit and not any(is_memory_file(path) for path in new):
            # Nothing is remembered yet: there is no history to begin.
            return {}
        return {**self.folder.store(new), **dict.fromkeys(gone)}

    def _settings_files(self) -> dict[str, bytes]:
        found = ((name, self.memory.home / name) for name in SETTINGS_FILES)
        return {name: path.read_bytes() for name, path in found if path.is_file() and not path.is_symlink()}

    def _leave_settings_files(self, head: str) -> None:
        """What setting up made stays as it is where the remote has other lines: git need not tell of that."""
        held = self.folder.files(head)
        made = {
            name: (heading + "".join(f"{line}\n" for line in lines)).encode()
            for name, (heading, lines) in SETTINGS_FILES.items()
        }
        own = [name for name, data in self._settings_files().items() if name in held and data == made[name]]
        theirs = self.folder.contents({name: held[name] for name in own})
        self.folder.leave(name for name in own if theirs[name] != made[name])

    @contextmanager
    def _index(self) -> Iterator[Path]:
        with scratch_folder(self.folder.own) as (folder, _):
            yield folder / "index"

    def _authors(self) -> set[str]:
        """Who changed something since the last commit, by the log; "" for another program."""
        entries = self.memory.history.log(after=self.local.logged, limit=_ENTRIES)
        made = (entry.change_set for entry in entries)
        return {"" if one.kind == "outside" else one.author.signature for one in made if one.size}

    # Taking in

    def _turn(self, branch: str) -> bool:
        """Fetches, takes in and pushes once; False when somebody pushed in between."""
        remote = self._fetched(branch)
        head = self.head(branch)
        if remote and not head and self.memory.arrivals.here().contents:
            # The memory came to be since it was committed.
            self.commit(branch)
            head = self.head(branch)
        if remote and remote != head:
            self._refuse_rewritten(remote)
            if head and self.folder.is_shared and self.folder.others_differ(head, remote):
                what = "other files of the repository differ from the remote"
                kept, todo = (
                    f"{KEPT}, and {_COMMITTED}",
                    "git pull and git push bring them in step, then: nuggets sync",
                )
                raise stopped(what, ErrorCode.REMOTE, str(self.folder.top), todo, kept=kept)
            if not self.folder.is_ancestor(remote, head or remote) or not head:
                self.take_in(branch, remote)
                self.commit(branch)
                head = self.head(branch)
        if remote != self.local.synced and remote:
            self.keep(synced=remote)
        if not head or head == remote:
            return True
        if not remote and self.folder.is_shared:
            what, where = f"the remote has no branch {branch} yet", self.local.remote
            todo = f"git push -u {where} {branch}, then: nuggets sync"
            raise stopped(what, ErrorCode.REMOTE, where, todo, kept=_COMMITTED)
        sent = differing(self.version(remote), self.version(head))
        if not self._pushed(branch, head):
            return False
        self.done = replace(self.done, sent=self.done.sent + sent)
        self.keep(synced=head)
        return True

    def _refuse_rewritten(self, remote: str) -> None:
        synced = self.local.synced
        if synced and self.folder.commit_of(synced) and not self.folder.is_ancestor(synced, remote):
            what = "the history of the remote was rewritten: it no longer has what it had at the last sync"
            todo = "if that is meant, join it anew: nuggets sync off, then nuggets sync init"
            kept = f"{KEPT}, {_COMMITTED}, and nothing was sent"
            raise stopped(what, ErrorCode.REMOTE, self.local.remote, todo, kept=kept)

    def take_in(self, branch: str, remote: str) -> None:
        """Takes in what a commit has, and has the branch lead to it, or to a merge with it."""
        self.step("taking in what changed elsewhere")
        head = self.head(branch)
        base = self.folder.merge_base(head, remote) if head else ""
        before, theirs = self.version(base), self.version(remote, base)
        known, files = self.folder.files(base), self.folder.files(remote)
        # Said once: what was left out before and is as it was goes without saying.
        left_out = [path for path in _left_out(files) if known.get(path) != files[path]]
        own_name = self.git.line("var", "GIT_AUTHOR_IDENT").partition(" <")[0]
        author, reason = arrival(self._commits(base, remote), own_name)
        entry = self.memory.ids()
        self.keep(incoming=Incoming(commit=remote, entry=entry))
        arrived = self.memory.arrivals.take_in(before, theirs, id=entry, author=author, reason=reason)
        self._count(arrived, left_out)
        self._join(branch, head, remote, base)

    def _count(self, arrived: Arrived, left_out: Iterable[str]) -> None:
        made, done = arrived.change_set, self.done
        self.done = replace(
            done,
            came_in=done.came_in + made.size,
            change_sets=done.change_sets if made.empty else (*done.change_sets, made.id),
            kept_here=tuple(dict.fromkeys((*done.kept_here, *arrived.kept_here))),
            brought_back=tuple(dict.fromkeys((*done.brought_back, *arrived.brought_back))),
            left_out=(*done.left_out, *left_out, *arrived.left_out),
        )

    def _join(self, branch: str, head: str, remote: str, base: str) -> None:
        """Has the branch lead to the remote's commit, or where both went on, to a merge commit of what is here now."""
        if not head or base == head:
            self.folder.move_branch(branch, remote, head, "took in")
        else:
            present = self.memory.arrivals.here()
            changes = self._changes(present, remote, self.folder.files(remote))
            with self._index() as index:
                tree = self.folder.tree(remote, changes, index)
                said = message((), self.local.machine, merges=f"Merge what changed on {self.local.machine}")
                merge = self.folder.commit_merge(said, tree, (remote, head))
            self.folder.move_branch(branch, merge, head, "merged")
        self.keep(incoming=None, logged=self.memory.history.newest())

    def finish_interrupted(self, branch: str) -> None:
        """Goes on where a sync was killed between taking a commit in and saying so to git: recalls count once."""
        incoming = self.local.incoming
        if incoming is None:
            return
        head, remote = self.head(branch), self.folder.commit_of(incoming.commit)
        taken = remote and self.memory.history.has(incoming.entry)
        if taken and not (head and self.folder.is_ancestor(remote, head)):
            base = self.folder.merge_base(head, remote) if head else ""
            self._join(branch, head, remote, base)
        else:
            self.keep(incoming=None)

    def _commits(self, base: str, remote: str) -> list[Commit]:
        words = ["log", "-z", "--no-show-signature", f"--format={_LOG}", f"-n{_COMMITS}", remote]
        fields = self.git.get(*words, *([f"^{base}"] if base else [])).decode(errors="replace").split("\0")
        found = []
        for subject, person, trailers in zip(fields[0::3], fields[1::3], fields[2::3], strict=False):
            told: dict[str, list[str]] = {}
            for line in trailers.splitlines():
                name, _, value = line.partition(": ")
                told.setdefault(name, []).append(value)
            machine = next(iter(told.get(MACHINE_TRAILER, ())), "")
            found.append(Commit(subject, person, machine, tuple(told.get(AUTHOR_TRAILER, ()))))
        return found

    # The remote

    def _tracking(self, branch: str) -> str:
        return f"refs/remotes/{self.local.remote}/{branch}"

    def _fetched(self, branch: str) -> str:
        """The newest commit of the remote's branch, "" where it has none. Raises _Offline."""
        self.step("fetching")
        words = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--", self.local.remote)
        ran = self.git.run_remote(*words, f"+refs/heads/{branch}:{self._tracking(branch)}")
        if ran.code:
            listed = self._listed(ran)
            if f"\trefs/heads/{branch}\n".encode() in listed.out:
                raise _Offline(last_said(ran))
            return ""
        return self.folder.commit_of(self._tracking(branch))

    def _listed(self, failed: Ran) -> Ran:
        """The branches that the remote has, after a run that it failed. Raises _Offline where it does not answer."""
        words = ("ls-remote", "--heads", "--", self.local.remote)
        silent = failed.seconds >= self.git.silence
        gone = _Offline(f"the remote did not answer within {self.git.silence:.0f} s")
        try:
            # Once more, but not as long where it was silent; who types a password has the time for that.
            seconds = 2 * _LOOK_AGAIN if silent and not self.git.asks else REMOTE_SECONDS
            wait = min(self.git.silence, _LOOK_AGAIN) if silent else None
            listed = self.git.run_remote(*words, silence=wait, seconds=seconds)
        except SyncError as error:
            raise gone from error
        if listed.code:
            raise gone if silent or listed.seconds >= self.git.silence else _Offline(last_said(listed))
        return listed

    def _pushed(self, branch: str, head: str) -> bool:
        """Whether the remote took it; False where somebody was faster. Raises _Offline, SyncError."""
        self.step("pushing")
        words = ("push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", "--")
        ran = self.git.run_remote(*words, self.local.remote, f"{head}:refs/heads/{branch}")
        if not ran.code:
            return True
        if _was_overtaken(ran):
            return False
        self._listed(ran)
        what, todo = (
            f"the remote, or your own hook, refuses the push: {last_said(ran)}",
            "nuggets sync tries again",
        )
        raise stopped(what, ErrorCode.REMOTE, self.local.remote, todo, kept=_COMMITTED)


def refuse_pages(pages: Path) -> SyncError:
    """The error for a memory whose notes are pages of another program."""
    team = is_team_folder(pages)
    other = "import it into a memory of its own, which can be synced: nuggets import"
    todo = "commit and push it with its repository" if team else other
    return stopped("a folder of pages is not synced", ErrorCode.SYNC, str(pages), todo)


def _was_overtaken(ran: Ran) -> bool:
    """Whether a push was refused since the remote has commits that we lack; by git's own marks, for programs."""
    said = ran.out.decode(errors="replace").splitlines()
    lines = [line.split("\t") for line in said if line.startswith("!")]
    marks = ("[rejected] (fetch first)", "[rejected] (non-fast-forward)", "[remote rejected] (failed to update ref)",
             "[remote rejected] (cannot lock ref")  # fmt: skip
    return any(len(line) > 2 and line[2].startswith(marks) for line in lines)


def _left_out(files: Mapping[str, Blob]) -> list[str]:
    """What looks like a file of a memory and is none, and what may stand in no folder: links, repositories within this
    one, the files of a machine's own, git's settings below the folder.
    """
    return [
        path
        for path, blob in files.items()
        if not is_sound(path)
        or not blob.plain
        or any(fnmatch(path.partition("/")[0].lower(), name.rstrip("/")) for name in _NEVER_SENT)
        or path.lower().endswith("/.gitattributes")
        or (path == GRAPH_FILE.parts[0])
        or ("/" not in path and is_fact_file(path) and not is_memory_file(path))
    ]


def _is_ours(path: str) -> bool:
    return is_memory_file(path) or path in SETTINGS_FILES
