"""How soon the app answers: a cursor key, a letter in the search box, and what an agent writes.

Run as `python tests/benchmarks/latency.py [PART ...]`, parts: keys, building, writing, search, agent, burst (default:
all). Everything happens in a real pseudo-terminal; a time runs from the key (or the agent's write) to the piece of
output that shows its effect. Beside it, in turns, the same for a cursor key in a hello-world list of the same library.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import pyte
from pty_kit import APP, ROOT, Terminal, lines, make_memory, note

KEY_BARS = (16.0, 33.0)
SEARCH_BARS = {10_000: 50.0, 100_000: 120.0}
AGENT_BAR = 250.0
_FEW, _MIDDLE, _MANY = 300, 10_000, 100_000
_NAIVE = re.compile(r"Naive \d+")
_COUNTS = re.compile(r"([\d,]+) (?:notes?|hidden)\b")
_DOWN, _HOME = "\x1b[B", "\x1b[H"
_BLOCK = 25
# Seconds after which a key that did nothing is lost; until then it is late.
_PATIENCE = 10.0
_ROWS = 4000
_CUT = 22
# Where titles stand in the list: the lines of the screen, and its columns.
_LIST = slice(5, 25)
_TITLES = slice(41, 68)
# In a row, what a note belongs to stands apart from its title.
_APART = re.compile(r"\s{2,}")
_HELLO = f"""
from textual.app import App
from textual.widgets import OptionList

class Hello(App):
    def compose(self):
        yield OptionList(*[f"Row {{number}}." for number in range({_ROWS})])

Hello().run()
"""
_INDEX = """
import sys
from pathlib import Path
from core.memory import Memory

memory = Memory.open(Path(sys.argv[1]), reconcile=False)
memory.search.index()
memory.search.keep()
"""
# Words that stand in many notes of the demo, as somebody types them.
_TYPED = ("deploy", "token", "cache timeout", "retry queue", "invoice")


_missed: list[str] = []


# Measuring


def milliseconds(seconds: Iterable[float]) -> list[float]:
    return [each * 1000 for each in seconds]


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least such a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Keys:
    """Cursor keys sent to a terminal, and when the cursor came to the row that each of them goes to."""

    def __init__(self, terminal: Terminal, rows: Sequence[str], look: Callable[[pyte.Screen], str]) -> None:
        self.terminal, self.rows, self.look = terminal, rows, look
        self.place = 0
        self.sent: list[float] = []
        self.reached: list[float] = []

    def send(self) -> None:
        """One step down."""
        self.sent.append(self.terminal.send(_DOWN))

    def follow(self) -> None:
        """Looks at what came onto the screen since."""
        for at, row in self.terminal.frames(self.look):
            ahead = self.rows[self.place + 1 : self.place + 200]
            if row and row != self.rows[self.place] and row in ahead:
                steps = ahead.index(row) + 1
                self.place += steps
                self.reached += [at] * steps

    def times(self) -> list[float]:
        """Milliseconds from each key to its row. Raises RuntimeError for a key that did nothing."""
        self.follow()
        end = time.monotonic() + _PATIENCE
        while len(self.reached) < len(self.sent) and time.monotonic() < end:
            note([self.terminal], 0.1)
            self.follow()
        if len(self.reached) < len(self.sent):
            lost = len(self.sent) - len(self.reached)
            raise RuntimeError(f"{lost} of {len(self.sent)} keys were lost:\n{self.terminal.screen()}")
        return milliseconds(
            at - sent for sent, at in zip(self.sent, self.reached[: len(self.sent)], strict=True)
        )


def under_sign(screen: pyte.Screen) -> str:
    """The beginning of the row on which the cursor of a list of ours stands."""
    for line in lines(screen):
        _, sign, after = line.partition("┃▌")
        if sign:
            return beginning(after)
    return ""


def beginning(row: str) -> str:
    """The beginning of the title that a row of the list shows, by which it is known."""
    return _APART.split(row.strip())[0][:_CUT].strip()


def titles(screen: pyte.Screen) -> tuple[str, ...]:
    """What stands where the list shows its titles."""
    return tuple(line[_TITLES] for line in lines(screen)[_LIST])


def highlighted(screen: pyte.Screen) -> str:
    """The row of an option list whose ground differs from that of the others."""
    grounds = [screen.buffer[line][3].bg for line in range(1, screen.lines - 1)]
    common = statistics.mode(grounds)
    line = next((place for place, ground in enumerate(grounds, 1) if ground != common), None)
    return "" if line is None else lines(screen)[line].strip(" │▊▎").split(".")[0]


def in_turns(ours: Keys, theirs: Keys, blocks: int, dice: random.Random) -> None:
    """Keys for the one, then for the other, again and again, at the pace of a held key."""
    for _ in range(blocks):
        for keys in (theirs, ours):
            for _ in range(_BLOCK):
                keys.send()
                note([ours.terminal, theirs.terminal], dice.uniform(0.035, 0.06))
            note([ours.terminal, theirs.terminal], 0.3)


def report(
    name: str, values: Sequence[float], beside: Sequence[float], bars: tuple[float, float] | None
) -> None:
    median, late = statistics.median(values), percentile(values, 0.99)
    other, other_late = statistics.median(beside), percentile(beside, 0.99)
    held = ""
    if bars is not None:
        within = median <= bars[0] and late <= bars[1]
        held = f" bars {_bars(bars)}: {'hold' if within else 'MISSED'}"
        _missed.extend([] if within else [name])
    print(
        f"{name:48} {median:6.1f} {late:6.1f} {max(values):6.0f} ms   list {other:5.1f} {other_late:5.1f}   "
        f"{median / other:4.1f} {late / other_late:4.1f} x{held}",
        flush=True,
    )


def _bars(bars: tuple[float, float]) -> str:
    return " ".join(f"{bar:.0f}" for bar in bars if bar != math.inf)


# The programs


class Bench:
    """Memories of each size, made once, and programs started on copies of them."""

    def __init__(self, folder: Path, kept: Path | None = None) -> None:
        self.folder, self._kept = folder, kept or folder
        self._numbers = itertools.count()

    def made(self, notes: int) -> Path:
        """A memory that is only copied."""
        home = self._kept / f"m{notes}"
        if not home.exists():
            make_memory(home, notes)
            # Agents wrote it: the log begins when the app first opens it, not with one entry of all notes.
            for left in (*home.glob("nuggets.db*"), home / "backups"):
                shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
        return home

    def copy(self, notes: int) -> Path:
        """A memory of its own."""
        home = self.folder / f"copy{next(self._numbers)}"
        shutil.copytree(self.made(notes), home)
        return home

    def app(self, home: Path, cache: Path | None = None) -> Terminal:
        """The app on a memory, once its notes are there, with the cursor on the first. cache: None for a new one."""
        cache = cache or self.folder / f"cache{next(self._numbers)}"
        terminal = Terminal(["-c", APP, "--home", str(home)], {"NUGGETS_CACHE": str(cache)})
        terminal.wait_for(
            lambda shown: "live" in shown and "reading …" not in shown and "│ created " in shown
        )
        # It begins on a note with links, wherever that stands.
        terminal.send(_HOME)
        terminal.wait_for(lambda shown: "┃▌" in shown.splitlines()[_LIST.start])
        return terminal

    def hello(self) -> Terminal:
        """A list of the same library, and nothing else."""
        terminal = Terminal(["-c", _HELLO])
        terminal.wait_for(lambda shown: "Row 3" in shown)
        return terminal

    def rows(self, home: Path) -> list[str]:
        """The beginnings of the titles in the order of the list."""
        from core.memory import Memory
        from nuggets_tui.view import listed
        from nuggets_tui.widgets.row_text import note_marks

        notes = listed(Memory.open(home, reconcile=False).snapshot, "newest", False)[:_ROWS]
        return [beginning(note_marks(note).plain + note.title) for note in notes]


def keys_on(
    bench: Bench, terminal: Terminal, rows: Sequence[str], blocks: int
) -> tuple[list[float], list[float]]:
    """Times of cursor keys in the app and in the hello-world list."""
    hello = bench.hello()
    try:
        ours = Keys(terminal, rows, under_sign)
        theirs = Keys(hello, [f"Row {number}" for number in range(_ROWS)], highlighted)
        theirs.terminal.screen()
        in_turns(ours, theirs, blocks, random.Random(5))
        return ours.times(), theirs.times()
    finally:
        hello.close()


# The parts


def part_keys(bench: Bench) -> None:
    """A cursor key once everything is ready."""
    for notes in (_MIDDLE, _MANY):
        home = bench.copy(notes)
        rows = bench.rows(home)
        cache = warm_cache(bench, home)
        terminal = bench.app(home, cache)
        note([terminal], 8.0)
        report(f"cursor key, {notes:,} notes", *keys_on(bench, terminal, rows, 8), KEY_BARS)
        terminal.close()


def warm_cache(bench: Bench, home: Path) -> Path:
    """A cache that holds the index of a memory."""
    cache = bench.folder / f"cache-of-{home.name}"
    environment = os.environ | {"NUGGETS_CACHE": str(cache)}
    subprocess.run([sys.executable, "-c", _INDEX, str(home)], check=True, cwd=ROOT, env=environment)
    return cache


def part_building(bench: Bench) -> None:
    """A cursor key right after the first opening: the index is built meanwhile."""
    home = bench.copy(_MANY)
    rows = bench.rows(home)
    terminal = bench.app(home)
    report(f"cursor key, {_MANY:,} notes, index building", *keys_on(bench, terminal, rows, 10), KEY_BARS)
    terminal.close()


def part_writing(bench: Bench) -> None:
    """A cursor key while an agent writes five times a second."""
    home = bench.copy(_MIDDLE)
    rows = bench.rows(home)
    terminal = bench.app(home, warm_cache(bench, home))
    note([terminal], 4.0)
    writer = Writer(home, 0.2, 10_000)
    report(f"cursor key, {_MIDDLE:,} notes, an agent writing", *keys_on(bench, terminal, rows, 10), KEY_BARS)
    written = writer.end()
    print(f"{'':4}{len(written)} writes meanwhile, {_rate(written):.1f} a second")
    terminal.close()


def part_search(bench: Bench) -> None:
    """A letter in the search box, to the results for what stands there then."""
    for notes, bar in SEARCH_BARS.items():
        home = bench.copy(notes)
        terminal = bench.app(home, warm_cache(bench, home))
        hello = bench.hello()
        terminal.send("/deploy")
        terminal.wait_for(lambda shown: "esc clears" in shown, 120.0)
        leave_search(terminal, hello)
        note([terminal, hello], 6.0)
        beside = Keys(hello, [f"Row {number}" for number in range(_ROWS)], highlighted)
        hello.screen()
        values: list[float] = []
        for typed in _TYPED:
            terminal.send("/")
            note([terminal, hello], 0.3)
            for letters in itertools.accumulate(typed):
                terminal.screen()
                sent = terminal.send(letters[-1])
                note([terminal, hello], 0.45)
                values += _answered(terminal, sent)
            leave_search(terminal, hello)
            for _ in range(5):
                beside.send()
                note([terminal, hello], 0.08)
        report(f"letter to results, {notes:,} notes", values, beside.times(), (bar, math.inf))
        hello.close()
        terminal.close()


def leave_search(terminal: Terminal, hello: Terminal) -> None:
    """Out of the field, and the search gone."""
    for _ in range(2):
        terminal.send("\x1b")
        note([terminal, hello], 0.4)


def _answered(terminal: Terminal, sent: float) -> list[float]:
    """Milliseconds from a letter to other results in the list, [] for a letter that leaves them as they are."""
    shown = titles(terminal.emulated)
    return next(([(at - sent) * 1000] for at, seen in terminal.frames(titles) if seen != shown), [])


def part_agent(bench: Bench) -> None:
    """From the end of an agent's write until its note stands in the list."""
    home = bench.copy(_MIDDLE)
    terminal = bench.app(home, warm_cache(bench, home))
    hello = bench.hello()
    note([terminal, hello], 6.0)
    beside = Keys(hello, [f"Row {number}" for number in range(_ROWS)], highlighted)
    hello.screen()
    terminal.screen()
    # So few that the cursor, which stays on its note, never pushes the newest off the list.
    writer = Writer(home, 1.5, 15)
    while writer.writing:
        beside.send()
        note([terminal, hello], 0.2)
    note([terminal, hello], 2.0)
    seen: dict[str, float] = {}
    for at, shown in terminal.frames(lambda screen: "\n".join(titles(screen))):
        for title in _NAIVE.findall(shown):
            seen.setdefault(title, at)
    written = writer.wait()
    values = [(seen[title] - at) * 1000 for title, at in written.items()]
    report(f"an agent's write on screen, {_MIDDLE:,} notes", values, beside.times(), (AGENT_BAR, math.inf))
    hello.close()
    terminal.close()


def part_burst(bench: Bench) -> None:
    """A thousand writes in ten seconds on a small memory, while somebody goes down the list."""
    home = bench.copy(_FEW)
    rows = bench.rows(home)
    terminal = bench.app(home)
    note([terminal], 3.0)
    writer = Writer(home, 0.01, 1000)
    values, beside = keys_on(bench, terminal, rows, 5)
    written = writer.wait()
    note([terminal], 2.0)
    report(f"cursor key, {_FEW} notes, 1,000 writes in 10 s", values, beside, None)
    took = max(written.values()) - min(written.values())
    terminal.send(_HOME)
    note([terminal], 1.0)
    counted = f"{_FEW + len(written):,}"
    shown = terminal.screen()
    count = sum(int(found.replace(",", "")) for found in _COUNTS.findall(shown.partition("\n")[0]))
    right = count == _FEW + len(written) and f"Naive {len(written)}" in shown
    _missed.extend([] if right else ["the end state"])
    print(f"{'':4}{len(written)} writes in {took:.1f} s, no key lost; the end state ({counted} notes) is "
          f"{'on screen' if right else 'NOT on screen'}")  # fmt: skip
    terminal.close()


class Writer:
    """A process that adds a note again and again, as the original leaves the file: all of it, replaced in one step."""

    def __init__(self, home: Path, pause: float, most: int) -> None:
        self._stop = home.parent / f"{home.name}.stop"
        arguments = [sys.executable, __file__, "--write", str(home), str(pause), str(most), str(self._stop)]
        self._process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)

    @property
    def writing(self) -> bool:
        """Whether it has not written all yet."""
        return self._process.poll() is None

    def end(self) -> dict[str, float]:
        """Stops it; when each note was written, by title."""
        self._stop.touch()
        return self.wait()

    def wait(self) -> dict[str, float]:
        """As `end`, once it has written all."""
        lines, _ = self._process.communicate()
        return {title: float(at) for title, _, at in (line.partition("\t") for line in lines.splitlines())}


def write(home: Path, pause: float, most: int, stop: Path) -> None:
    """What the process of a `Writer` does. Only the first save is reckoned as the original does it: the bytes of the
    notes that it does not touch are the same each time."""
    from kits.original_writer import new_note, read_graph, save_graph

    path = home / "graph" / "graph.json"
    save_graph(home, read_graph(home))
    text = path.read_bytes()
    end = text.rindex(b"\n  ]")
    before, after = text[:end], text[end:]
    begun = time.monotonic() + 1.5
    for number in range(1, most + 1):
        time.sleep(max(0.0, begun + number * pause - time.monotonic()))
        if stop.exists():
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
        made = new_note(
            "note", "memory", f"Naive {number}", f"Round {number}.", id=f"{number:08x}", at=now, scope="user"
        )
        before += b",\n    " + json.dumps(made, indent=2, ensure_ascii=False).replace("\n", "\n    ").encode()
        temporary = path.with_name("graph.json.tmp")
        temporary.write_bytes(before + after)
        os.replace(temporary, path)
        print(f"Naive {number}\t{time.monotonic()}", flush=True)


def _rate(written: dict[str, float]) -> float:
    return len(written) / max(max(written.values()) - min(written.values()), 1e-9) if written else 0.0


PARTS = {
    "keys": part_keys,
    "building": part_building,
    "writing": part_writing,
    "search": part_search,
    "agent": part_agent,
    "burst": part_burst,
}


def main(names: Sequence[str]) -> int:
    """Prints a line for each figure; 1 when a bar was missed."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; median, 99th percentile, worst")
    kept = os.environ.get("NUGGETS_BENCH_FOLDER")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), Path(kept) if kept else None)
        for name in names or PARTS:
            PARTS[name](bench)
    return 1 if _missed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
        sys.exit()
    sys.exit(main(sys.argv[1:]))
