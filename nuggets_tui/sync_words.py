"""How a memory stands to its remote, and what a sync did, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.sync import SyncResult, SyncState


def sync_said(state: SyncState) -> tuple[str, str]:
    """The state in the header and its style. What came in stands there until the next sync or visit."""
    for holds, said, style in (
        (state.offline, "offline", "$text-warning"),
        (state.problem, "sync stopped", "$text-error"),
        (state.conflicts, plural(state.conflicts, "conflict waits", "conflicts wait"), "$text-warning"),
        (state.to_send, f"{state.to_send:,} to send", "$text-accent"),
        (state.came_in, f"{state.came_in:,} came in", "$text-muted"),
    ):
        if holds:
            return said, style
    return "in step", "$text-muted"


def result_said(result: SyncResult) -> str:
    state = result.state
    parts = []
    if result.came_in:
        parts.append(f"{plural(result.came_in, 'note')} came in")
    if result.sent:
        parts.append(f"{plural(result.sent, 'note')} sent")
    if not state.remote and result.committed:
        parts.append(f"{plural(result.committed, 'note')} committed on this machine")
    kept = len(result.kept_here) + len(result.brought_back)
    said = f"Synced: {', '.join(parts)}." if parts else "Synced: nothing to send, and nothing came in."
    if state.offline:
        came_in = f" {plural(result.came_in, 'note')} came in before." if result.came_in else ""
        said = "Offline: the remote could not be reached. Your changes are committed, and the next sync sends them."
        said += came_in
    if kept:
        said += f" {plural(kept, 'note')}, deleted on one side and changed on the other, kept."
    if result.left_out:
        said += f" Left out: {plural(len(result.left_out), 'file')} that no memory has."
    return said
