"""Rows of pipeline.db that only tests look at."""

from __future__ import annotations

import json
import sqlite3
from typing import Any


def job_result(reader: sqlite3.Connection, job_id: int) -> dict[str, Any]:
    """What a completed job left as its result; empty before."""
    row = reader.execute("SELECT result FROM jobs WHERE id = ?", (job_id,)).fetchone()
    return {} if row is None else dict(json.loads(row["result"]))
