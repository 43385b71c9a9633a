"""Rows of nuggets.db that only tests look at."""

from __future__ import annotations

import json
from typing import Any

from core.pipeline.database.tables import Tables


def job_result(reader: Tables, job_id: int) -> dict[str, Any]:
    """What a completed job left as its result; empty before."""
    row = reader.connection.execute("SELECT result FROM jobs WHERE id = ?", (job_id,)).fetchone()
    return {} if row is None else dict(json.loads(row["result"]))
