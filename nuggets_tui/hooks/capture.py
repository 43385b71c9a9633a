"""What of a prompt is worth keeping: what a person says to last, in English, German, French or Spanish; and which files
a tool's call was about.

Only sentences of the person count: nothing in quotes, code, tags or material that is pasted or listed for a task.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

PERSON, PROJECT, ASKS = "person", "project", "asks"
"""Whom a sentence is about: the person everywhere, or the project at hand. What it asks for may do harm: a person
decides."""

# What comes later in a prompt was most often pasted.
_LONGEST_PROMPT: Final = 4_000
_SHORTEST, _LONGEST = 8, 400
_MOST: Final = 5


class _Any:
    """A pattern of alternatives that is compiled once it is wanted: most prompts want none, and an agent waits."""

    __slots__ = ("_parts", "_pattern")

    def __init__(self, *parts: str) -> None:
        self._parts = parts
        self._pattern: re.Pattern[str] | None = None

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where one fits, whatever the case."""
        if self._pattern is None:
            self._pattern = re.compile("|".join(self._parts), re.IGNORECASE)
        return self._pattern.search(text)


# One of these is in each prompt that says something to keep; most prompts hold none and are looked at no further.
_SIGNS: Final = _Any(
    r"remember|forget|prefer|rather|always|never|in mind|note that|record|reference|memory|from now"
    r"|forward|future"
    r"|decided|agreed",
    r"merk|vergiss|denk|notier|halte|bevorzug|lieber|immer|\bnie|jetzt|nun an|künftig|beschlossen|entschieden",
    r"souviens|rappelle|oublie|retiens|note|mémoire|préf|toujours|jamais|désormais|dorénavant"
    r"|maintenant|décidé",
    r"recuerda|olvides|cuenta|anota|memoria|prefi|siempre|nunca|ahora|adelante|decidi|acorda",
)
_POLITE: Final = (
    r"^(?:(?:please|also|and|but|so|ok|okay|btw|then|just|bitte|und|ach ja|s['’]il te plaît|et|por favor|y)"
    r"[,.:]?\s+)*"
)
_HERE: Final = (
    r"(?:in|for|of) th(?:is|e) (?:repo|repository|project|codebase|monorepo)|in d(?:iese"
    r"|ie)[mr] (?:projekt|repo(?:sitory)?)"
    r"|dans ce (?:projet|dépôt)|en este (?:proyecto|repositorio|repo)"
)
_BEGIN: Final = rf"{_POLITE}(?:(?:{_HERE})[,:]?\s+)?"
# Said to be remembered; what follows is kept.
_TELL: Final = _Any(
    rf"{_BEGIN}(?:(?:always\s+)?remember|note|keep in mind|bear in mind|(?:do not|don['’]t"
    rf"|never) forget)(?:\s+that\b|\s*[:,])\s*(?P<en>.+)",
    rf"{_BEGIN}(?:for the record|for (?:the )?future(?: reference)?|(?:add|save|commit) (?:this "
    rf"|it )?to (?:your |the )?memory)\s*[:,]\s*(?P<en2>.+)",
    rf"{_BEGIN}(?:merke? dir|denke? (?:bitte )?daran|vergiss (?:bitte )?nicht|notiere?"
    rf"|halte? (?:bitte )?fest)(?: bitte)?(?:\s*,?\s*dass\b|\s*[:,])\s*(?P<de>.+)",
    rf"{_BEGIN}(?:souviens-toi|rappelle-toi|n['’]oublie pas|note(?: bien)?|retiens|garde en tête"
    rf"|pour mémoire)(?:\s+que\b|\s+qu['’]|\s*[:,])\s*(?P<fr>.+)",
    rf"{_BEGIN}(?:recuerda|no olvides|ten en cuenta|anota|apunta|para que conste|(?:añade"
    rf"|guarda) (?:esto )?en? (?:a )?la memoria)(?:\s+que\b|\s*[:,])\s*(?P<es>.+)",
    r"(?P<end>.+?)[,;.]? (?:please )?(?:remember that|keep that in mind|note that|merk dir das"
    r"|souviens-t['’]en|recuérdalo)[.!]?$",
)
_DECIDED: Final = _Any(
    rf"{_BEGIN}we(?:['’]ve| have)? (?:decided|agreed|settled on|chosen|chose)\b",
    rf"{_BEGIN}(?:the|our) decision (?:is|was)\b",
    rf"{_BEGIN}wir haben (?:uns\b.*\bentschieden|(?:.*\b)?(?:beschlossen|entschieden|vereinbart))\b",
    rf"{_BEGIN}(?:nous avons|on a) (?:décidé|convenu|choisi)\b",
    rf"{_BEGIN}(?:hemos )?(?:decidido|acordado|decidimos|acordamos)\b",
)
_DO: Final = (
    r"(?:use|run|add|write|keep|put|ask|check|test|commit|format|name|import|return|include|create"
    r"|update|respond|answer"
    r"|reply|call|start|make|set|follow|avoid|squash|rebase|lint|document|push|merge|deploy|delete"
    r"|remove|edit|touch"
    r"|change|modify|skip|log|store|print|hard-?code|guess|assume|amend|force|install|rename|rewrite"
    r"|disable|ignore"
    r"|remember|mock|prefer|show|explain|review|build|release|sort|wrap|catch|throw|handle|validate"
    r"|sign|tag|cache|do)\b"
)
_TUN: Final = (
    r"(?:verwende|nutze|benutze|nimm|schreibe?|mache?|setze?|lasse?|antworte|frage?|teste|prüfe?"
    r"|committe|pushe?|lösche?"
    r"|ändere|benenne|führe?|starte|lege?|halte?)\b"
)
_FAIRE: Final = (
    r"(?:utilise|emploie|écris|mets|fais|réponds|demande|teste|vérifie|nomme|ajoute|garde|évite|lance)\b"
)
_HACER: Final = (
    r"(?:usa|utiliza|escribe|pon|haz|responde|pregunta|prueba|nombra|añade|evita|guarda|ejecuta)\b"
)
_HACER_NUNCA: Final = (
    r"(?:uses|utilices|escribas|pongas|hagas|respondas|borres|toques|cambies|subas|ejecutes)\b"
)
_RULE: Final = _Any(
    rf"{_BEGIN}(?:from now on|from here on|going forward|in (?:the )?future|henceforth)\b",
    r"\b(?:from now on|going forward)[.!]?$",
    rf"{_BEGIN}(?:you\s+(?:should|must)\s+)?(?:always|never(?:\s+ever)?)\s+{_DO}\s+\S",
    rf"{_BEGIN}you\s+(?:should|must)\s+(?:always|never)\s+\S",
    rf"{_BEGIN}{_DO}\s.*[,;]\s*(?:always|never\s+\S+)[.!]?$",
    rf"{_BEGIN}(?:ab (?:jetzt|sofort)|von (?:nun|jetzt) an|künftig|in zukunft)\b",
    rf"{_BEGIN}(?:{_TUN}.*\b(?:immer|nie|niemals)\b|(?:immer|nie|niemals)\s+\S+.*en[.!]?$)",
    rf"{_BEGIN}(?:désormais|dorénavant|à partir de maintenant|à l['’]avenir)\b",
    rf"{_BEGIN}(?:{_FAIRE}.*\b(?:toujours|jamais)\b|n['’e].{{1,20}}\bjamais\b)",
    rf"{_BEGIN}(?:a partir de ahora|de ahora en adelante|en adelante)\b",
    rf"{_BEGIN}(?:siempre\s+{_HACER}|{_HACER}\s+siempre\b|nunca\s+{_HACER_NUNCA})",
)
# Of oneself; what one always gets or never understood is a complaint.
_COMPLAINTS: Final = (
    r"(?:get|got|see|saw|have|had|forg[eo]t|underst[ao]{1,2}[nd]+|knew|know|thought|think|hear|heard"
    r"|wonder|end(?:ed)? up|run into"
    r"|ran into|fail|failed|could|can|expect\w*|tried|try|been|seen|found|find|manage\w*|work\w*"
    r"|need\w* to look)\b"
)
_PREFER: Final = _Any(
    r"\b(?:I|we)\s+(?:(?:really|strongly|generally|usually|always|much)\s+)?(?:prefer"
    r"|favou?r)\s+(?!(?:it|that|them|this|those)\b)\S",
    r"\b(?:I['’]d|I would|we['’]d|we would)\s+(?:much\s+)?rather\s+\S",
    rf"{_BEGIN}(?:I|we)\s+(?:always|never)\s+(?!{_COMPLAINTS})\S",
    r"\bmy preference is\b",
    r"\b(?:ich bevorzuge|wir bevorzugen|mir (?:ist|sind|wäre)\b.*\blieber|(?:ich|wir) (?:mag|mögen"
    r"|hätten?|möchten?)\b.*\blieber)\b",
    rf"{_BEGIN}wir\s+\w+\s+(?:.*\s)?(?:immer|nie|niemals)\b",
    r"\b(?:je préfère|nous préférons|on préfère)\s",
    r"\b(?:prefiero|preferimos)\s",
)
_QUESTION: Final = _Any(
    r"\?\W*$",
    rf"{_POLITE}(?:do|does|did|why|what|how|when|where|who|which|can|could|should|is|are|will"
    rf"|would) (?:we|you|I|it|the|this|that|they|there)\b",
    rf"{_POLITE}(?:warum|wieso|wann|wo|wie|welche[rs]?|pourquoi|comment|quand|por qué|cómo|cuándo)\b",
)
# For a task or a moment.
_PASSING: Final = _Any(
    r"\b(?:for|in|on|during) (?:this|the|that) (?:\w+ )?(?:refactor\w*|task|pr|pull request|ticket"
    r"|change|feature|branch|commit|demo"
    r"|migration|session|example|exercise|file|function|case|sprint)\b",
    r"\b(?:for now|this time|just (?:this )?once|for the moment|until|while you|before you"
    r"|when you(?:['’]re| are)|once you)\b",
    r"\b(?:option|variant|approach|plan) [a-d1-4]\b|\b(?:first|second|third|last|former|latter"
    r"|other) (?:approach|option|one|variant|version|idea|solution|way)\b",
    r"\b(?:tomorrow|today|tonight|yesterday|this (?:morning|afternoon|evening|week|month)|(?:next"
    r"|last) (?:week|month|sprint|release|time|night|year|\w+day)|in an? (?:hour|minute|week)|later)\b",
    r"\b(?:diesmal|vorerst|erstmal|bis (?:morgen|zum?|du)|bevor du|(?:erste|zweite"
    r"|dritte)n? (?:variante|lösung|option)|option [a-d]"
    r"|morgen|heute|gestern|(?:nächste|letzte|diese)[nrs]? (?:woche|monat)"
    r"|für diese[nrsm]? (?:\w+ )?(?:aufgabe|refactoring|branch|pr|commit))\b",
    r"\b(?:cette fois|pour l['’]instant|jusqu['’]|avant de|demain|aujourd['’]hui|hier"
    r"|la semaine (?:prochaine|dernière)"
    r"|(?:première|deuxième|seconde) (?:approche|option|solution)|pour cette? (?:\w+ )?(?:tâche"
    r"|branche|pr|refonte))",
    r"\b(?:esta vez|por ahora|de momento|hasta|antes de|mañana|hoy|ayer"
    r"|la (?:próxima )?semana (?:que viene|pasada)?"
    r"|(?:primera|segunda) (?:opción|variante|solución)|para est[ea] (?:\w+ )?(?:tarea|rama|pr))\b",
)
# Of oneself, as one tells it: kept for all projects.
_OF_ONESELF: Final = _Any(
    r"\b(?:my (?:name|time ?zone|email|editor|shell|keyboard|language|pronouns?|birthday|preference)"
    r"|I(?:['’]m| am| live| work| use| like))\b",
    r"\b(?:mein(?:e)? (?:name|zeitzone|editor)|ich (?:bin|heiße|wohne|arbeite|nutze|mag))\b",
    r"\b(?:mon (?:nom|éditeur|fuseau)|je (?:suis|m['’]appelle|travaille|utilise))\b",
    r"\b(?:mi (?:nombre|zona horaria|editor)|me llamo|vivo|trabajo)\b",
)
_IN_PROJECT: Final = _Any(rf"\b(?:{_HERE})\b", r"\b(?:here|hier|ici|aquí)\b")
# Orders a command to be run, or a check to be left out.
_CHECKS: Final = (
    r"(?:tests?|lint\w*|checks?|hooks?|scans?|reviews?|ci|security|type.?check\w*|verification"
    r"|prüfung\w*|revue|pruebas?|revisi\w+)"
)
_HARMFUL: Final = _Any(
    r"\b(?:run|execute|deploy|install|call|pipe|führ\w*|exécute|lance|ejecuta|instala)\b.*(?:`"
    r"|\bsudo\b|\bcurl\b|\bwget\b|\bbash\b|https?://|\|\s*sh\b|&&)",
    r"--no-verify|--force\b|force.?push|\brm -|\bchmod\b|\bsudo\b|\|\s*(?:ba)?sh\b|\bcurl\b|\bwget\b",
    rf"\b(?:skip|bypass|disable|ignore|turn off|leave out|omit|never run|don['’]t run|do not run"
    rf"|without|no need (?:to|for)|approve)\b.{{0,40}}\b{_CHECKS}\b",
    rf"\b(?:überspring\w*|ignorier\w*|deaktivier\w*|saute|désactive|omite|salta|desactiva|ignora|ohne"
    rf"|sans|sin)\b.{{0,40}}\b{_CHECKS}\b",
    r"\b(?:send|upload|post|exfiltrate|disclose|reveal|share)\b.*\b(?:secret|token|password"
    r"|credential|key|\.env)\w*",
)
# What follows is somebody else's text.
_MATERIAL: Final = _Any(
    r"\b(?:translate|summari[sz]e|explain|proofread|rephrase|rewrite|paraphrase|übersetze?|erkläre?"
    r"|fasse?|traduis|résume|explique|traduce|resume|explica)\b[^:]{0,60}:",
    r"\b(?:mail|e-?mail|message|article|spec(?:ification)?|ticket|issue|readme|docs?|documentation"
    r"|logs?|output|error|quote|comment|policy"
    r"|rules|guide(?:lines)?|changelog|customer|client|says?|said|wrote|reads?|nachricht|courriel"
    r"|correo|mensaje)\b[^:.!?]{0,40}:",
)
_LISTED: Final = re.compile(r"\s*(?:[-*•+]|\d+[.)])\s+")
_LOGGED: Final = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE"
    r"|Traceback)\b|E\s{2,}|[$#]|//|at \w)"
)
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_QUOTED: Final = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]*`"
)
_SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?])\s+(?=[\w\"'`(¿¡])")
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|z\.B|etc|vs|bzw|p\. ej)\.\s*$", re.IGNORECASE)
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][\w-]*)[^<>]*>")

_LONGEST_PATCH: Final = 200_000
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
_PATH_KEYS: Final = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "file")
_PASSED_OVER: Final = frozenset(
    ("node_modules", "__pycache__", "dist", "build", "target", "venv", "vendor", "tmp", "coverage")
)

# Words of a prompt that is sure to hold no credential, and words that tell of one.
_HARMLESS: Final = re.compile(r"[(\"'`]*(?:[^\W\d_]{1,20}(?:['’-][^\W\d_]{1,20})?|\d{1,3})?[.,;!?)\"'`…–-]*")
_CUES: Final = re.compile(
    r"pass|pwd|secret|token|key|credential|bearer|auth|log.?in|\bpin\b|code", re.IGNORECASE
)


def is_plain(prompt: str) -> bool:
    """Whether a prompt is words alone, and none about a credential: it need not be looked at any closer."""
    return not _CUES.search(prompt) and all(map(_HARMLESS.fullmatch, prompt.split()))


def statements(prompt: str) -> Iterator[tuple[str, str]]:
    """What of a prompt is meant to last: `PERSON`, `PROJECT` or `ASKS`, and the sentence. At most five."""
    prompt = _unquoted(prompt[:_LONGEST_PROMPT].strip())
    if not _SIGNS.search(prompt):
        return
    found = 0
    for sentence in _sentences(_untagged(prompt)):
        kept = _kept(sentence) if _SHORTEST <= len(sentence) <= _LONGEST else None
        if kept is not None:
            yield kept
            found += 1
            if found == _MOST:
                return


def _kept(sentence: str) -> tuple[str, str] | None:
    """Whom a sentence is about, and what of it is kept; None for one that is not meant to last."""
    # Quoted words are of somebody else, but belong to the sentence.
    own = _QUOTED.sub(lambda quoted: "·" * len(quoted[0]), sentence)
    if _QUESTION.search(own) or _PASSING.search(own):
        return None
    told = _TELL.search(own)
    rule = _RULE.search(own) or _PREFER.search(own)
    if not (told or rule or _DECIDED.search(own)):
        return None
    if told:
        # A tell names what it is about by whichever of its spellings fits.
        group = next(name for name, said in told.groupdict().items() if said)
        sentence = sentence[told.start(group) : told.end(group)].strip()
        own = own[told.start(group) : told.end(group)]
        rule = _RULE.search(own) or _PREFER.search(own) or _OF_ONESELF.search(own)
    if len(sentence) < _SHORTEST or not re.search(r"\w", own):
        return None
    of_person = rule and not _IN_PROJECT.search(own)
    kind = ASKS if _HARMFUL.search(sentence) else PERSON if of_person else PROJECT
    return kind, sentence[:1].upper() + sentence[1:] if told else sentence


def _unquoted(prompt: str) -> str:
    """A prompt without the quotation marks that stand around the whole of it: OpenCode's `run` puts them there."""
    return (
        prompt[1:-1]
        if len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in prompt[1:-1]
        else prompt
    )


def _untagged(prompt: str) -> str:
    """A prompt without what stands in tags, as the program around the agent adds it; all behind one that stays open."""
    kept, at, open_tag = [], 0, ""
    for tag in _TAG.finditer(prompt):
        closing, name = bool(tag[1]), tag[2].casefold()
        if not open_tag and not closing:
            kept.append(prompt[at : tag.start()])
            open_tag = name
        elif closing and name == open_tag:
            open_tag, at = "", tag.end()
    return "\n".join([*kept, "" if open_tag else prompt[at:]])


def _sentences(prompt: str) -> Iterator[str]:
    """The sentences of the person alone."""
    fenced = material = False
    for line in prompt.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or line.startswith((">", "    ", "\t", "|")) or _LOGGED.match(line):
            continue
        listed = _LISTED.match(line)
        if not line.strip() or (material and listed):
            continue
        text = line[listed.end() :] if listed else line
        given = _MATERIAL.search(_QUOTED.sub("", text))
        introduces = text.rstrip().endswith(":") and not _SIGNS.search(text)
        if not listed:
            material = bool(given) or introduces
        if given and not _TELL.search(text.strip()):
            text = text[: text.find(":")] if ":" in text else ""
        yield from _split(text.strip())
        if given and not text.strip().endswith(":") and not listed:
            continue


def _split(line: str) -> Iterator[str]:
    begun = ""
    for part in _SENTENCE_ENDS.split(line):
        begun = f"{begun} {part}".strip()
        if not _ABBREVIATED.search(begun):
            yield " ".join(begun.split())
            begun = ""
    if begun:
        yield " ".join(begun.split())


def edited_paths(event: Mapping[str, Any], root: str) -> Iterator[str]:
    """Paths of files in the project that a tool's call was about, from its root on."""
    given = event.get("tool_input")
    answered = event.get("tool_response")
    for part in (event, given, answered):
        if isinstance(part, dict):
            for key in _PATH_KEYS:
                value = part.get(key)
                if isinstance(value, str) and value:
                    yield from _within(value, root)
            for key in ("command", "input", "patch", "patchText"):
                value = part.get(key)
                for text in value if isinstance(value, list) else [value]:
                    if isinstance(text, str) and "*** " in text:
                        for path in _PATCHED.findall(text[:_LONGEST_PATCH]):
                            yield from _within(path.strip(), root)


def _within(path: str, root: str) -> Iterator[str]:
    if not root or len(path) > _LONGEST or not path.isprintable():
        return
    inner = os.path.relpath(os.path.join(root, path), root)
    parts = inner.split(os.sep)
    if parts[0] in ("..", ".") or os.path.isabs(inner):
        return
    if not any(part in _PASSED_OVER or part.startswith(".") for part in parts):
        yield inner
