"""Work beside the event loop: results and errors come back, and nobody waits for it at the end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from nuggets_tui.threads import run_in_thread


async def test_results_and_errors_come_back_from_another_thread() -> None:
    assert await run_in_thread(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(divmod, 1, 0)


async def test_a_result_that_nobody_waits_for_any_more_is_dropped() -> None:
    gate = threading.Event()
    asked = asyncio.ensure_future(run_in_thread(gate.wait, 10))
    await asyncio.sleep(0)
    asked.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await asked


@pytest.mark.slow
def test_the_program_ends_without_waiting_for_it() -> None:
    program = (
        "import asyncio, threading\n"
        "from nuggets_tui.threads import run_in_thread\n"
        "async def main():\n"
        "    task = asyncio.ensure_future(run_in_thread(threading.Event().wait))\n"
        "    await asyncio.sleep(0)\n"
        "asyncio.run(main())\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


# One thread is about to import html. It goes on only once the other, which imports the Markdown parser, waits for html.
_TWO_IMPORTS = """
import sys, threading, time
from importlib.machinery import PathFinder, SourceFileLoader
from nuggets_tui.widgets.markdown_lines import load_parser

failures = []

def kept(work):
    try:
        work()
    except BaseException as error:
        failures.append(error)

parser = threading.Thread(target=kept, args=(load_parser,))

def waits_for_html():
    frame = sys._current_frames().get(parser.ident)
    while frame is not None:
        if frame.f_code.co_name == "acquire" and getattr(frame.f_locals.get("self"), "name", "") == "html":
            return True
        frame = frame.f_back
    return False

class Gate(SourceFileLoader):
    def create_module(self, spec):
        parser.start()
        while parser.is_alive() and not waits_for_html():
            time.sleep(0.001)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "html" and parser.ident is None:
            spec = PathFinder.find_spec(name, path)
            spec.loader = Gate(name, spec.origin)
            return spec

sys.meta_path.insert(0, Finder())
assert "html" not in sys.modules
kept(lambda: __import__("core.model.masks"))
assert parser.ident is not None
parser.join()
print(failures)
"""


@pytest.mark.slow
def test_reading_markdown_and_masking_can_be_imported_at_the_same_time() -> None:
    done = subprocess.run([sys.executable, "-c", _TWO_IMPORTS], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("[]\n", "")
