"""A project with a folder of its team's notes: pages as people write them by hand, and as the program does."""

from __future__ import annotations

from pathlib import Path

from core.team import trust_folder

PAGES = {
    # As the program writes it.
    "deploy-to-staging.md": (
        "---\nlinks:\n  - vpn-setup: staging is behind it\ntags:\n  - deploy\n  - staging\n---\n\n"
        "# Deploy to staging\n\nRun `make deploy`.\n\n- Ask in #ops first.\n"
    ),
    # By hand: Windows line ends, unknown fields, a comment, a list in brackets, its own quotation marks.
    "vpn-setup.md": (
        "---\r\n# see the wiki\r\nowner: 'ops'\r\ntags: [network,  \"Remote Work\"] # two\r\n"
        "type: preference\r\n---\r\n"
        "# VPN setup\r\n\r\nConnect first.  \r\nSee [[Billing]].\r\n\r\n\r\n\r\n- one\r\n"
    ),
    # No front matter, as most people begin.
    "billing.md": "# Billing\n\nInvoices go out on the 1st. See [the VPN](vpn-setup.md).\n\n\n",
    "plain.md": "just text",
    "api/rate-limits.md": "---\ntitle: Rate limits\n---\n10 a second.\n",
    "old-server.md": "---\nhidden: true\n---\n\n# The old server\n\nIt was called bert.\n",
}


def write_team(project: Path, pages: dict[str, str] | None = None, *, trusted: bool = True) -> Path:
    """Writes a team's folder into a project, with the pages above where no others are given, as a person trusts it.
    Returns the folder.
    """
    folder = project / ".nuggets" / "notes"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (PAGES if pages is None else pages).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    if trusted:
        trust_folder(folder)
    return folder
