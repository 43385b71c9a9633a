"""What a recall costs an agent through `nuggets mcp`, beside the engine's own call on the same 10,000 notes.

Run as `python tests/benchmarks/mcp.py [NOTES]` (default: 10000), after README's test command. The official client asks
over real pipes; after each of its calls the engine is asked the same in this process, so that both meet the same
machine. First what a server takes that was started on the demo memory: processor seconds until its list of tools is
answered and until a first recall is, and its greatest memory then. Milliseconds at the median, and their ratio, for a
recall of each kind: one that is counted, as the first of its question in a session is; one that was counted before; one
that the notes answer; one that nothing answers. Ends with 1 when the ratio of all kinds together is above its bar, or a
server takes more than its bars.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# This folder has a file of the name of the library.
sys.path.remove(str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from kits.mcp_client import HELLO, AgentClient, call, connected, raw_server, request

from core.memory import Memory
from core.model.change import Author
from tools.demo.resizing import write_sized

BAR = 3.0
READY_SECONDS = 0.4
MEGABYTES = 60
ROUNDS = 15


class Engine:
    """The engine in this process, asked as a program asks it: the files are looked at before each call."""

    def __init__(self, home: Path) -> None:
        self.memory = Memory.open(home, author=Author("agent", "bench"), reconcile=False)

    def recall(self, question: str, session: str) -> None:
        self.memory.refresh_read_only()
        self.memory.recall(question, session=session)


def milliseconds(done: Callable[[], object]) -> float:
    start = time.perf_counter()
    done()
    return (time.perf_counter() - start) * 1000


@contextmanager
def asked(notes: int) -> Iterator[tuple[AgentClient, Engine]]:
    """The client of our server, and the engine."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "memory"
        write_sized(home, notes)
        with connected(home) as agent:
            yield agent, Engine(home)


def started() -> tuple[float, float, float]:
    """Processor seconds of a server until it is ready and until it answered a recall, and its greatest megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "memory"
        write_sized(home, 200)
        with raw_server(home) as (process, stdin, stdout, _):
            proc = Path(f"/proc/{process.pid}")

            def seconds_after(*messages: bytes) -> float:
                for message in messages:
                    stdin.write(message)
                stdin.flush()
                for _ in messages:
                    stdout.readline()
                user, system = proc.joinpath("stat").read_text().rpartition(")")[2].split()[11:13]
                return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

            ready = seconds_after(request(1, "initialize", **HELLO), request(2, "tools/list"))
            asked = seconds_after(call(3, "recall", query="test command"))
            (peak,) = (
                one for one in proc.joinpath("status").read_text().splitlines() if one.startswith("VmHWM")
            )
            return ready, asked, int(peak.split()[1]) / 1_024


def main() -> int:
    ready, asked_once, megabytes = min(started() for _ in range(3))
    print(f"ready {ready:.2f} s, first recall {asked_once:.2f} s of processor time; {megabytes:.0f} MB")
    notes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with asked(notes) as (agent, engine):
        snapshot = engine.memory.snapshot
        facts = [fact.key for nugget in snapshot.nuggets for fact in nugget.facts][:ROUNDS]
        titles = [note.title for note in snapshot.visible if note.kind == "note"][: 40 * ROUNDS : 40]
        kinds = {
            "a fact, counted": (facts, True),
            "a fact, counted before": (facts, False),
            "a note": (titles, False),
            "nothing": ([f"zzyzx{number} quux" for number in range(ROUNDS)], False),
        }
        for question in (*facts[:1], *titles[:1]):
            agent("recall", query=question, session="warm")
            engine.recall(question, "warm")
        print(f"{len(snapshot.notes):,} notes")
        print(f"{'':24}{'MCP':>9}{'engine':>9}{'ratio':>8}")
        ours: list[float] = []
        theirs: list[float] = []
        for name, (questions, counted) in kinds.items():
            through, direct = [], []
            for number, question in enumerate(questions):
                sessions = (f"m{name}{number}", f"e{name}{number}") if counted else ("again", "again")
                # The first of these is counted and written, the second one meets the new state of the files.
                for _ in range(0 if counted else 2):
                    agent("recall", query=question, session="again")
                    engine.recall(question, "again")
                through.append(
                    milliseconds(lambda q=question, s=sessions[0]: agent.result("recall", query=q, session=s))
                )
                direct.append(milliseconds(lambda q=question, s=sessions[1]: engine.recall(q, s)))
            ours += through
            theirs += direct
            print_row(name, through, direct)
        print_row("all together, sum", [sum(ours)], [sum(theirs)])
        slow = ready > READY_SECONDS or megabytes > MEGABYTES
        return int(slow or sum(ours) > BAR * sum(theirs))


def print_row(name: str, ours: list[float], theirs: list[float]) -> None:
    mine, their = map(statistics.median, (ours, theirs))
    print(f"{name:24}{mine:9.1f}{their:9.2f}{mine / their:8.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
