"""What hooks caught and waits for the memory, as fronts reach it. An agent waits for it, so it loads nothing else."""

from __future__ import annotations

from core.storage.caught import FOLDER as FOLDER
from core.storage.caught import LOG as LOG
from core.storage.caught import add_to_log as add_to_log
from core.storage.caught import count as count
from core.storage.caught import paths as paths
from core.storage.caught import put as put
from core.storage.caught import remove as remove
from core.storage.caught import remove_unfinished as remove_unfinished
from core.storage.caught import set_aside as set_aside
