"""What the help explains beside the keys: the words of the app, the language of search, and the signs."""

from __future__ import annotations

from typing import Final

# What the words of the app mean, and whether the thing can be taken back.
WORDS: Final = (
    ("forget (a fact)", "out of recall, its note hidden", "can be taken back"),
    ("hide, bring back", "out of search and recall, kept in the file", "can be taken back"),
    (
        "merge",
        "one note keeps every line of both, the other is hidden with a link to it",
        "can be taken back",
    ),
    ("delete", "out of the files; the audit log still has it", "can be taken back from there"),
    ("recalled 7×", "in how many sessions an agent was answered with it", ""),
    ("nugget", "a named part of the memory, such as a project", ""),
    ("reflect", "propose a cleanup of the notes; nothing happens before you accept", "can be taken back"),
    (
        "conflict",
        "a change that met another one of the same text; it waits in the audit log and nothing of it is lost",
        "{conflicts} settles it",
    ),
    ("promote", "propose lines for MEMORY.md from what was recalled often", "can be taken back"),
    (
        "score",
        "of a hit: the sum of its parts, words + vector + boost + like (≈) + link (→); {why} explains it",
        "",
    ),
    (
        "golden search",
        "a kept search with the note that it must find among its first hits; {searches} shows whether it does",
        "",
    ),
    (
        "pipeline",
        "makes notes of texts that are handed in, with a model; {pipeline} shows it, {origin} a note's own text",
        "can be taken back",
    ),
    (
        "proposal",
        "what the pipeline found and does not write by itself; nothing happens before you accept",
        "",
    ),
    ("entity", "a name in the texts handed in, with what was said of it", ""),
    ("sure", "how far the best answer stands above noise, 0 to 1", ""),
)
# What can be typed into the search box.
FILTERS: Final = (
    ("words", "notes that hold them, or are near them in meaning, best first"),
    ('"exact words"', "notes with just these words come first"),
    ("+token", 'this word must be there; so too +"two words"; `code` is one phrase'),
    ("-staging", 'not with this word; so too -"two words" and -tag:old'),
    ("tag:auth", "with this tag; tag:a,b with either, tag:a tag:b with both"),
    ("title:jwt", 'with these words in the title; title:"two words"'),
    ("nugget:web", "in this nugget; scope:project, type:preference, subject:login likewise"),
    ("is:new", "new or changed since you were here before; what others did so bears the word new in Notes"),
    ("is:hidden", "hidden notes alone; is:pinned, is:fact, is:note (mirrors no fact) likewise"),
    ("is:secret", "seems to hold a credential"),
    ("has:links", "with links; has:tags, has:recalls likewise"),
    ("hits:>3", "recalled more often than that; hits:0 never"),
    ("updated:<30d", "changed in the last 30 days; h d w mo y; >1y longer ago; created: likewise"),
    ("updated:>2026-01", "changed after that month; a year or a day such as 2026-01-31 will do, or today"),
    ("tab  →", "take what is offered; ↑ offers another; the frame says how it was read"),
    ("↑", "in the empty box: what was searched before, again an older one"),
)
SIGNS: Final = (
    ("●  ◌", "live: files are watched; hollow: they cannot be read just now"),
    ("→  ←  +", "link out, link in, suggested link"),
    ("◆", "a fact, or the note that mirrors one"),
    ("★", "pinned"),
    ("•  new", "changed just now, for a moment; made or changed by others since you were here before"),
    ("✓", "before a row: selected"),
    ("⚿", "seems to hold a credential; {secrets} reviews and masks it"),
    ("⊘", "hidden"),
    ("a→b  b~", "in the results: a was typed and read as b; b~ where there is little room"),
    ("✓  ✗", "a golden search finds its note; lost: it does not"),
    ("×3", "recalled in three sessions"),
    ("↶", "taken back, wholly or in part"),
    ("◈", "in the audit log: a run of reflection, with what it did"),
    ("◷", "the past, read only: {time} begins to look back, esc comes back to now"),
    (
        "○ ● ◔ ‖ ✗",
        "the pipeline: off or nothing handed in yet, all done, at work, paused, stuck; {pipeline} opens it",
    ),
    ("!", "waits for you"),
)
