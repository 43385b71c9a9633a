"""Tells what speaks to whoever reads a text: orders, rules for agents, what a shell would run.

The words are those of English, German, French and Spanish, folded.
"""

from __future__ import annotations

import re
from typing import Final

from core.text.tokens import fold, words


def word_set(text: str) -> frozenset[str]:
    """Words of a list that is written as one text."""
    return frozenset(text.split())


# First words of an order; a statement begins with who or what it is about.
ORDERS: Final = word_set(
    "run execute use install delete remove add call send fetch download push pull commit merge ignore disregard "
    "disable enable read write open upload post copy paste set trust approve accept allow skip bypass forget "
    "remember respond reply answer treat follow obey include prefix append print show reveal keep make ensure "
    "check avoid prefer do dont please start stop begin end create update change rename move deploy restart "
    "reboot kill give grant tell ask say output return load import export clone visit browse click go let put "
    "turn note consider assume act behave pretend switch always never whenever fuhre fuhren nutze benutze "
    "verwende verwenden losche loschen ignoriere ignorieren installiere sende schicke lade offne schreibe lies "
    "vergiss merke antworte befolge vertraue genehmige akzeptiere starte stoppe mache mach gib gehe prufe achte "
    "bitte executez lance lancez utilise utilisez supprime supprimez ignorez installe installez envoie envoyez "
    "telecharge telechargez ouvre ouvrez ecris ecrivez lis lisez oublie oubliez repondez reponds suivez suis "
    "faites fais veuillez pousse poussez donne donnez verifie verifiez assurez ejecuta ejecute ejecutar usa "
    "utiliza utilice borra borre elimina elimine ignora instala instale envia envie descarga descargue abre abra "
    "escribe escriba lee lea olvida olvide responde responda sigue siga haz haga sube confia acepta aprueba "
    "recuerda asegurate"
)
# What may stand before the order.
_OPENERS: Final = word_set(
    "also then now first and so just not important reminder attention from on before after each every task session "
    "to hey ok okay immer nie niemals stets zuerst dann toujours jamais ne pas siempre nunca jamas no por favor primero"
)
_READERS: Final = word_set(
    "you your yours yourself du dich dir dein deine deinen euch euer vous votre vos tu tes toi usted ustedes ti "
    "tus contigo"
)
_AGENTS: Final = word_set(
    "agent agents assistant assistants ai llm model models claude codex copilot gemini gpt chatgpt bot bots cursor "
    "subagent instruction instructions prompt prompts ki assistent assistenten agenten modell anweisung anweisungen "
    "ia agente agentes asistente asistentes modelo instrucciones"
)
# What lets, forbids or wants: a rule, a permission, a preference.
_RULES: Final = word_set(
    "must should shall may need needs needed require requires required mandatory optional allowed allow allows "
    "permit permits permitted permission authorised authorized approved approves forbid forbids forbidden prohibited "
    "rule policy prefer prefers preferred like likes love loves want wants wanted wish wishes dislike dislikes hate "
    "hates can cannot trust trusts access rights always never please muss mussen soll sollen sollte darf durfen kann "
    "konnen erlaubt verboten bevorzugt bevorzugen mag mogen mochte wollen will immer nie niemals regel zugriff doit "
    "doivent devez faut peut peuvent pouvez autorise permis interdit obligatoire prefere preferent aime aiment veut "
    "veulent toujours jamais acces debe deben puede pueden permitido prohibido obligatorio prefiere prefieren gusta "
    "quiere quieren siempre nunca jamas acceso permiso"
)
# How an order to an agent is told as if it were a fact.
_ROUTINE: Final = word_set(
    "before after each every whenever session task tasks run runs running execute executes ignore ignores ignored "
    "disregard disregarded override skip bypass obey obeys follow follows full jeder jede jedem aufgabe sitzung "
    "ausfuhren chaque tache cada tarea sesion ejecuta ejecutar"
)
_TO_A_SHELL: Final = re.compile(
    r"\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python\d?|perl|node|iex)\b|\brm\s+-\w*[rf]|\b(?:curl|wget|iwr|invoke-webrequest)\b"
    r"|\beval\b|\bbase64\s+-d|\bchmod\s+\+x|--(?:no-verify|force|dangerously)|\bnpx\s|\bsudo\s",
    re.IGNORECASE,
)
# What calls itself an instruction, or is somebody else's: a prompt, the line of a tool, a quotation.
_POSING: Final = re.compile(
    r"^\W*(?:system|developer|instructions?|assistant|tool|hint|output)\b\W*[:>\]]|^\s*(?:>|<[^>]+>)",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[,;:]\s+")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200d\ufeff]")


def speaks_to_reader(sentence: str) -> bool:
    """Whether a sentence orders, tells an agent what it may or has to do, or holds what a shell would run."""
    sentence = _UNSEEN.sub("", sentence)
    head, *others = _PARTS.split(sentence)
    if _begins_with_order(head) or any(part[:1].islower() and _begins_with_order(part) for part in others):
        return True
    said = frozenset(words(sentence))
    to_agent = not said.isdisjoint(_AGENTS) and not said.isdisjoint(_RULES | _ROUTINE)
    return to_agent or bool(_TO_A_SHELL.search(sentence) or _POSING.search(sentence))


def addresses_reader(sentence: str) -> bool:
    """Whether a sentence calls its reader "you"."""
    return not _READERS.isdisjoint(words(sentence))


def is_rule(sentence: str) -> bool:
    """Whether a sentence says what somebody must, may or likes."""
    return not _RULES.isdisjoint(words(sentence))


def _begins_with_order(part: str) -> bool:
    first = next((word for word in map(fold, words(part)) if word not in _OPENERS), "")
    return first in ORDERS
