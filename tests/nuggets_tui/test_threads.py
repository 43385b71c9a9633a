"""Work beside the event loop: results and errors come back, and nobody waits for it at the end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from nuggets_tui.pace import run_in_thread


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
        "from nuggets_tui.pace import run_in_thread\n"
        "async def main():\n"
        "    task = asyncio.ensure_future(run_in_thread(threading.Event().wait))\n"
        "    await asyncio.sleep(0)\n"
        "asyncio.run(main())\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
