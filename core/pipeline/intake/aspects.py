"""Finds the aspect of an entity that a predicate is about, by its verbs; needs no model."""

# The groups read as the table that they are.
# ruff: noqa: E501

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

GENERAL: Final = "general"
# Longer predicates do not come from clauses.
_READ: Final = 1_000
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

# In order: the first group that has a word or a pair of words of the predicate names the aspect.
_GROUPS: Final = tuple(
    (aspect, frozenset(entry.strip() for entry in words.split(",")))
    for aspect, words in (
        ("preferences", "like, likes, liked, liking, love, loves, loved, loving, enjoy, enjoys, enjoyed, enjoying,"
         "prefer, prefers, preferred, preferring, favor, favors, favored, favour, favours, favoured, adore, adores, adored,"
         "fond of, fan of, favorite, favorites, favourite, favourites, keen on, passionate about"),
        ("preferences", "hate, hates, hated, hating, dislike, dislikes, disliked, disliking, avoid, avoids, avoided, avoiding,"
         "loathe, loathes, loathed, despise, despises, despised, detest, detests, detested, can't stand, cannot stand, fear,"
         "fears, feared, fearing, afraid of"),
        ("properties", "is, are, was, were, am, be, been, being, isn't, aren't, wasn't, weren't, become, becomes, became, remains,"
         "remained, seems, seemed, identifies as, identified as"),
        ("events", "go, goes, went, gone, going, move, moves, moved, moving, travel, travels, traveled, travelled, traveling,"
         "travelling, visit, visits, visited, visiting, arrive, arrives, arrived, leave, leaves, left, return, returns,"
         "returned, attend, attends, attended, join, joins, joined, relocate, relocates, relocated, flew, drove, came, departs,"
         "departed"),
        ("activities", "work, works, worked, working, build, builds, built, building, run, runs, ran, running, manage, manages,"
         "managed, managing, lead, leads, led, leading, develop, develops, developed, developing, design, designs, designed,"
         "teach, teaches, taught, teaching, study, studies, studied, studying, write, writes, wrote, writing, maintain,"
         "maintains, maintained, deploy, deploys, deployed, research, researches, researched, researching, pursue, pursues,"
         "pursued, pursuing, specialize, specializes, specialized, specialise, specialises, specialised"),
        ("perspectives", "think, thinks, thought, thinking, believe, believes, believed, believing, feel, feels, felt, feeling,"
         "consider, considers, considered, hope that, hopes that, hoped that, hope for, hopes for, hoped for, hoping for,"
         "realize, realizes, realized, realise, realises, realised, worry, worries, worried, doubt, doubts, doubted,"
         "argue, argues, argued, agree, agrees, agreed, disagree, disagrees, disagreed"),
        ("properties", "have, has, had, having, own, owns, owned, owning, keep, keeps, kept, keeping, possess, possesses,"
         "possessed, contain, contains, contained, include, includes, included"),
        ("relationships", "marry, marries, married, marrying, engaged, divorced, divorce, divorces, dating, dated, dates,"
         "wife, husband, spouse, partner, single, relationship"),
        ("background", "born, grew up, grow up, grows up, growing up, raised, from, come from, comes from, live in, lives in,"
         "lived in, living in, originally, native"),
        ("decision patterns", "plan, plans, planned, planning, decide, decides, decided, deciding, intend, intends, intended,"
         "intending, choose, chooses, chose, chosen, choosing, want, wants, wanted, wanting, aim, aims, aimed, will, hope to,"
         "hopes to, hoped to, hoping to"),
        ("activities", "play, plays, played, playing, paint, paints, painted, painting, sing, sings, sang, sung, singing, read,"
         "reads, reading, cook, cooks, cooked, cooking, hike, hikes, hiked, hiking, swim, swims, swam, swimming, dance,"
         "dances, danced, dancing, garden, gardens, gardening, collect, collects, collected, practice, practices,"
         "practise, practises, practiced, practised, train, trains, trained, camp, camps, camped, camping"),
        (GENERAL, "say, says, said, saying, tell, tells, told, mention, mentions, mentioned, ask, asks, asked, report, reports,"
         "reported, explain, explains, explained, share, shares, shared, express, expresses, expressed, state, states, stated"),
    )
)  # fmt: skip
VERBS: Final = frozenset(
    word for _, words in _GROUPS for word in words if " " not in word
) - {"from", "single", "favorite", "favourite", "originally", "native", "wife", "husband", "spouse", "partner",
    "relationship", "state", "states", "share", "fear", "fears", "research", "camp", "camps", "express", "realize",
    "pursue"}  # fmt: skip


def aspect_of(predicate: str) -> str:
    """The aspect of a predicate: of twelve groups of verbs the first that has one of its words, else "general"."""
    found = [word[0].replace("’", "'") for word in _WORD.finditer(predicate[:_READ])]
    # A capital inside a predicate is a name's: Go is a language, not a way to move.
    words = [
        word.casefold() if number == 0 or not word[0].isupper() else "" for number, word in enumerate(found)
    ]
    spoken = {*words, *map(" ".join, pairwise(words))}
    return next((aspect for aspect, group in _GROUPS if not group.isdisjoint(spoken)), GENERAL)
