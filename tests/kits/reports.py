"""What a worker reports of the tests that it runs: each call, and else only what is worth a message."""

from __future__ import annotations

from typing import Final

import pytest
from _pytest.runner import runtestprotocol

# A message takes a worker and the run that it tells about as long as many a test takes.
_QUICK_SECONDS: Final = 0.05


class BriefReports:
    """Runs a test as pytest does, and leaves out the report of a set-up or tear-down that passed quickly."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Runs and reports one test."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if worth_telling(report):
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def worth_telling(report: pytest.TestReport) -> bool:
    """Whether a phase of a test is reported."""
    return report.when == "call" or not report.passed or report.duration > _QUICK_SECONDS
