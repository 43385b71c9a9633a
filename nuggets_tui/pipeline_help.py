"""The keys of the Pipeline screen: the line at its bottom for each of its lists, and all of them for the help."""

from __future__ import annotations

from typing import Final

from nuggets_tui.pane_help import Here

# By what has the cursor.
KEYS: Final = {
    "proposals": "a  accept · x  refuse · space  select · A  above … · v  decided · u  undo · ?  help · esc  close",
    "work": "r  retry · R  retry all dead · p  pause · n  hand in · tab  read · ?  help · esc  close",
    "entities": "/  find · P  pin · s  settle · n  hand in · tab  read · ?  help · esc  close",
    "health": "p  pause · n  hand in · tab  read · ?  help · esc  close",
    "details": "↑↓  scroll · tab  back to the list · esc  close",
    "query": "⏎  to the list · esc  all of them",
}
# Where the line has no room for all of them, the help has the rest.
NARROW_KEYS: Final = KEYS | {
    "proposals": "a  accept · x  refuse · space  select · A  above · u  undo · ?  help · esc  close",
    "work": "r  retry · R  all dead · p  pause · n  hand in · ?  help · esc  close",
}
# Where no proposal waits.
NO_PROPOSAL_KEYS: Final = "n  hand in · v  decided · u  undo · tab  read · ?  help · esc  close"
# Before anything was handed in.
FIRST_KEYS: Final = "n  hand in · tab  read · ?  help · esc  close"
HERE: Final = Here(
    "Pipeline",
    "Texts that were handed in become notes here. Proposals are what a model found in them and what is not written by "
    "itself, each with the sentence that it comes from; accepting writes it, as an entry of the audit log. Work is "
    "what is being done, waits or failed. Entities are the names in the texts, with what was said of them. Health is "
    "how the model does, what it may be asked today, and what is wrong with the configuration.",
    (
        ("1 2 3 4  ← →", "to a list; the one in use has the room"),
        ("tab  ⏎", "to what the row is about, to scroll it; tab goes back"),
        (
            "a  x",
            "proposals: accept, refuse; of several selected the review shows each before anything is written",
        ),
        ("space  shift+↑↓", "proposals: select; ctrl+a all"),
        ("+  ~  ⊘  =", "proposals: add, change, hide a note; nothing, since it is known. ! look closely"),
        ("A", "proposals: review all that are at least so sure"),
        ("v", "proposals: those decided too, with what became of them"),
        ("u", "take back what was accepted here last"),
        ("r  R", "work: try again what is dead; all of it"),
        ("/", "entities: find by a part of the name"),
        ("P", "entities: pin, or let go"),
        ("s", "entities: say of what may be outdated whether it is"),
        ("p", "all programs rest, or go on; texts are still taken in"),
        ("n", "hand a text in"),
        ("esc  i", "close"),
    ),
)
