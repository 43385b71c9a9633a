"""Makes the demo memory that the package holds: `python -m tools.demo [FOLDER]`, after a change of its story or of a
format that the files are in."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from core.memory import Memory
from nuggets_tui.demo import DEMO_NOW
from nuggets_tui.demo.copying import MEMORY
from tools.demo.build import change_set
from tools.demo.handwritten import entries
from tools.demo.history import write_history
from tools.demo.resizing import DEMO, numbered
from tools.demo.texts import submit_texts


def build(folder: Path) -> None:
    """Tells the story into an empty folder, entry by entry, and submits its texts."""
    with closing(Memory.open(folder, author=DEMO, clock=lambda: DEMO_NOW, ids=numbered())) as memory:
        write_history(memory, entries(), change_set(memory.draft(), None), whole=True)
    submit_texts(folder)


def main(arguments: list[str]) -> int:
    """The command."""
    target = Path(arguments[0]) if arguments else MEMORY
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        shutil.rmtree(target, ignore_errors=True)
        for path in sorted(Path(folder).rglob("*.*")):
            if path.is_file() and (path.suffix in (".db", ".json", ".toml")) and "backups" not in path.parts:
                copy = target / path.relative_to(folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
