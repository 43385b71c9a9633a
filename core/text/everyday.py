"""Everyday words: any text may hold one of them, so that one in common says little about what two texts are about.

They are no stop words: search looks for them. They weigh less where a search is judged as a whole.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from core.text.tokens import stem

_WORDS: Final = """
able accept across act actual add advice advise afraid again age ago agree allow almost alone already always amount
another answer anybody anyone anything appear apply arrange arrive article ask attempt author avoid away back bad
base become begin behind believe belong best better big bit both bring build busy buy call care carry case catch
cause certain chance change check claim clear close colour color come common complete concern connect
consider contact contain continue copy correct cost count course create current cut day date deal decide decision
define describe detail determine develop different difficult discover discuss down draw drive drop during each early
easy effect either else end enjoy enough ensure especially even evening event ever every everybody everyone
everything exact exactly example except exist expect explain face fact fail fall false far fast favorite favourite
feel few fill find fine finish first fit follow force forget form found free friend full further future general get
go goal gone good great group grow guess half hand handle happen happy hard hate hear help high hold home hope hour
house idea important improve include increase indeed inform information instead interest involve issue join keep kind
large last late later latest lead learn least leave left less life like line list listen little live long look lose
lot love low main make manage many matter may maybe mean meet mention mind minute miss moment money month morning
move much must name near need never new next nice night none normal note nothing nowadays number occur offer often
okay old once one only open order organise other otherwise own part pass past pay people perform perhaps permit
person pick place plan play point possible prefer prepare present prevent previous prior probably problem process
produce promise proper provide purpose put question quick quite reach read ready real really reason receive recent
recommend refer regard relate remain remember remind remove repeat replace report represent require respond rest
result return right room run safe same save say scare second see seem sell send sense serve set several share short
show side simple since sit situation size small somebody someone something sometimes soon sort speak special spend
stand start state stay step still stop store story strange such suggest support suppose sure take talk teach tell
thank thing think though thought throw time today together tomorrow tonight total travel try turn twice type
understand until update upon use useful usual usually value various visit wait walk want watch way wear week weekend
well whether whole wish within without wonder word work world worry worth write wrong year yes yesterday yet young
two three four five six seven eight nine ten hundred thousand million
bekommen brauchen dürfen finden geben gehen haben heißen kommen können kosten machen müssen sagen sein sollen werden
user users assistant project shared session self
address code file id item list location owner port status title url version win won
wollen wird wurde werde hat habe haben hatte ist sind war waren kann muss soll will darf geht gibt macht kostet heißt
wer was wie wo wann warum welche welcher welches wieviel viel viele womit wohin woher mit der die das dem den des ein
eine einen einem einer und oder nicht aus von für auf bei nach zu zum zur über unter
quel quelle quels quelles qui que quoi quand comment pourquoi combien est sont était fait faire avoir être
le la les un une des du de dans pour avec sur par pas
qué quién cuál cuándo cómo dónde por cuánto cuántos cuánta es son era está hay hace hacer tiene el los las una
"""


@cache
def _stems() -> frozenset[str]:
    from core.text.tokens import words

    return frozenset(map(stem, words(_WORDS)))


def is_everyday(stemmed: str) -> bool:
    """Whether a stem is that of an everyday word, or a lone letter, such as the s of "user's"."""
    return stemmed in _stems() or (len(stemmed) == 1 and stemmed.isascii() and stemmed.isalpha())
