"""A memory folder as Claude Code keeps it: pages as several of its versions write them, with what people do to them."""

from __future__ import annotations

from pathlib import Path

from core import Memory
from core.model.note import Note

PROJECT = "-home-me-app"
INDEX = (
    "# Memory Index\n\n"
    "- [Deploy needs VPN](deploy-needs-vpn.md) — staging only\n"
    "- [Prefers pnpm](feedback_pnpm.md) — never npm\n"
    "- [Billing](billing.md)\n\n"
    "## House rules\n\n"
    "Ask before you push.\n"
    "- Tests run with `make check`.\n"
)
PAGES = {
    "MEMORY.md": INDEX,
    # As the newest versions write it, saved on Windows, with spaces that mean a line break.
    "deploy-needs-vpn.md": (
        "---\r\nname: deploy-needs-vpn\r\ndescription: Staging deploys need the VPN\r\nmetadata: \r\n"
        "  node_type: memory\r\n  type: project\r\n  originSessionId: abd31d05-4f5f-4d33\r\n"
        "  modified: 2026-09-08T19:29:56.864Z\r\n---\r\n\r\nConnect first.  \r\n"
        "Then run deploy. See [[prefers-pnpm]].\r\n\r\n\r\n\r\n- one\r\n- two\r\n"
    ),
    "feedback_pnpm.md": (
        '---\nname: prefers-pnpm\ndescription: "Use pnpm: never npm"\nmetadata:\n  type: feedback\n---\n\n'
        "Use pnpm.\n\n**Why:** lock files.\n"
    ),
    # As earlier versions wrote it: the type at the top, a name for people, unknown fields, a comment.
    "billing.md": (
        "\ufeff---\n# by hand\ntype: reference\nname: Where billing lives\nowner: 'ops'\n"
        "description: >\n  Dashboards\n  of billing\n---\n# Where billing lives\n\n"
        "See https://example.org and [the deploy](deploy-needs-vpn.md).\n\n```\n\n\n  code\n```"
    ),
    # No front matter at all.
    "debugging.md": "# Debugging notes\n\nUse `--trace`. Compare [[Where billing lives]].\n\n\n",
    "notes/untitled.md": "just text",
}


def write_folder(root: Path, pages: dict[str, str] | None = None) -> Path:
    """Writes a folder of pages, the one above where no others are given. Returns the folder."""
    folder = root / "claude" / "projects" / PROJECT / "memory"
    for name, text in (PAGES if pages is None else pages).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of the folder, by its name there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def listed(folder: Path) -> dict[str, object]:
    """Every file of the folder, of the index the lines that say something, whatever their order."""
    found: dict[str, object] = {**tree(folder)}
    lines = sorted(line for line in tree(folder).get("MEMORY.md", b"").splitlines() if line.strip())
    return {**found, "MEMORY.md": lines} if "MEMORY.md" in found else found


def note_of(memory: Memory, file: str) -> Note:
    """The note that a page is."""
    return next(note for note in memory.snapshot.notes if note.page is not None and note.page.file == file)
