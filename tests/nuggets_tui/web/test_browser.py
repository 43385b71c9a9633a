"""`nuggets serve` as a real browser sees it."""

from __future__ import annotations

import pyte
import pytest
from kits.browser import Browser, chromium

pytestmark = pytest.mark.slow

_SCREEN = (400, 120)


def shown(browser: Browser) -> str:
    """What a terminal would show after all that came so far."""
    screen = pyte.Screen(*_SCREEN)
    pyte.ByteStream(screen).feed(bytes(browser.received))
    return "\n".join(screen.display)


async def until(browser: Browser, text: str) -> None:
    """Waits until a text stands on the screen."""
    while text not in shown(browser):
        await browser.news()


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium here")
async def test_the_main_screen_stands_in_a_browser_and_reacts_to_a_key(served: str) -> None:
    program = chromium()
    assert program is not None
    async with Browser(program) as browser:
        await browser.open(served)
        await until(browser, "Auth middleware")
        await until(browser, "Audit log")
        before = await browser.picture()
        await browser.press("?")
        await until(browser, "scroll")
        after = await browser.picture()
        assert before != after
        # Nothing was asked of any other machine, and the page is the app alone.
        loaded = await browser.evaluate(
            "performance.getEntriesByType('resource').map(e => new URL(e.name).host).join()"
        )
        assert set(filter(None, str(loaded).split(","))) <= {served.split("/")[2]}
