"""How the libraries that only the pipeline, or only PDF documents, need are added to this installation."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path
from typing import Final, Literal

Extra = Literal["pipeline", "pdf"]
_LIBRARIES: Final[dict[Extra, str]] = {"pipeline": "httpx2", "pdf": "pypdf"}


def install_command(extra: Extra = "pipeline") -> str:
    """The command that works here: pipx and uv keep environments of their own, some of them without pip."""
    prefix, python = Path(sys.prefix), shlex.quote(sys.executable)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject nuggets-tui {_LIBRARIES[extra]}"
    if (prefix / "uv-receipt.toml").exists() or importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {python} {_LIBRARIES[extra]}"
    return f"{python} -m pip install 'nuggets-tui[{extra}]'"
