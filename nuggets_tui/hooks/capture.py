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

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first place where one fits, whatever the case."""
        if self._pattern is None:
            self._pattern = re.compile("|".join(self._parts), re.IGNORECASE)
        return self._pattern.search(text, start)


# One of these is in each prompt that says something to keep; most prompts hold none and are looked at no further.
_SIGNS: Final = _Any(
    r"remember|forget|prefer|favou?r|rather|always|never|\bever\b|in mind|\bnote|memori|memory|from now"
    r"|from here|forward|future|later|next time|record|decided|decision|agreed|settled|chose|going with"
    r"|as a rule|convention|policy|every time|whenever|this (?:repo|project|codebase)",
    r"merk|vergiss|denk|notier|halte|speicher|bevorzug|lieber|immer|\bnie|jetzt|sofort|nun an|künftig"
    r"|zukunft|grundsätzlich|beschlossen|entschieden|geeinigt|vereinbart|diese[mr] (?:projekt|repo)",
    r"souviens|rappelle|oublie|retiens|note|mémoire|mémorise|préf|mieux|toujours|jamais|désormais"
    r"|dorénavant|retenir|maintenant|avenir|décid|convenu|choisi|d['’]accord|ce (?:projet|dépôt)",
    r"recuerda|olvides|cuenta|anota|apunta|memoria|prefi|prefer|gusta|siempre|nunca|ahora|adelante|decidi"
    r"|acorda|quedamos|este (?:proyecto|repo)",
)
_POLITE: Final = (
    r"^(?:(?:please|also|and|but|so|ok(?:ay)?|btw|by the way|then|just|yes|no(?=,)|great|thanks|one more thing"
    r"|oh|hey|bitte|und|aber|ach ja|übrigens|außerdem|danke|s['’]il te plaît|et|mais|merci|au fait"
    r"|por favor|y|pero|gracias|por cierto)[,.:!;–-]*\s+)*"
)
_HERE: Final = (
    r"(?:in|for|of|on|across|throughout) (?:all of )?(?:this|the|our) (?:whole |entire )?(?:repo(?:sitory)?"
    r"|project|code ?base|monorepo)|(?:in|für) (?:diese[ms]|unsere[mrn]?|de[mr]) (?:ganzen )?(?:projekt"
    r"|repo(?:sitory)?|codebase)|hier im projekt|(?:dans|sur|pour) (?:ce|notre) (?:projet|dépôt|repo)"
    r"|en (?:este|nuestro) (?:proyecto|repositorio|repo)"
)
_DO: Final = (
    r"(?:use|run|add|write|keep|put|ask|check|test|commit|format|name|import|return|include|create|update"
    r"|respond|answer|reply|call|start|make|set|follow|avoid|squash|rebase|lint|document|push|merge|deploy"
    r"|delete|remove|edit|touch|change|modify|skip|log|store|print|hard-?code|guess|assume|amend|force"
    r"|install|rename|rewrite|disable|ignore|remember|mock|prefer|show|explain|review|build|release|sort"
    r"|wrap|catch|throw|handle|validate|sign|tag|cache|do|give|talk|speak|tell|leave|split|pin|bump"
    r"|introduce|generate|execute|propose|suggest|verify|vendor|fix|pass|raise|read|reuse|copy|move|open"
    r"|close|quote|escape|wait|load|parse|compare|round|convert|pull|revert|refactor|extract|define"
    r"|implement|annotate|type|cover|measure|treat|go|stick|link|publish|ship|double-check)\b"
)
# Such as "One more rule: ..." and "When you add a file, ...".
_LEAD: Final = (
    rf"(?:(?P<asked>(?:can|could|would) you (?:please )?(?=(?:always|never)\s+{_DO}|from now))"
    r"|(?:\w+ ){0,3}(?:thing|request|rule|reminder|point|preference|important|heads[- ]up)\b[^:.!?]{0,30}:\s+"
    r"|(?:whenever|when|if|before|after|once|wenn|bevor|quand|si|cuando)\s+(?:you|I|we|\w+ing|du|tu|\w+as|\w+es)\b"
    r"[^,:]{0,80},\s+|[^,:?]{3,60},\s+so\s+(?=(?:please\s+)?(?:always|never)\s))?"
)
# What a sentence may begin with before it says anything. "Can you always ..." asks for no answer.
_BEGIN: Final = _Any(rf"{_POLITE}{_LEAD}(?P<here>(?:{_HERE})[,:]?\s+)?(?:(?:please|bitte)\s+)?")
# Said to be remembered; what follows is kept.
_TELL: Final = _Any(
    r"^(?:(?:always\s+)?remember|(?:take |make a )?note|memori[sz]e|keep in mind|bear in mind|(?:do not"
    r"|don['’]t|never) forget|n\.?b\.?)(?:\s+(?:that|this)\b(?:\s*:)?|\s*[:,])\s*(?P<en>.+)",
    r"^(?:remember\s+(?=(?:we|our|my|I)\s)|keep in mind\s+(?=(?:we|our|the|this)\s))(?!\w+ (?:talked|spoke"
    r"|discussed|had|saw|did|were|was|tried)\b)(?P<en1>.+)",
    r"^(?:(?:note|fyi|info|just )?\s*for (?:the record|(?:the |your )?(?:future|later|next time"
    r"|notes)(?: \w+)?)|(?:add|save|commit|store|put|write|keep)\s+(?:(?:this|that|it"
    r"|the following)\s+)?(?:down|(?:to|in|into) (?:(?:your|the|our|project|long-term)\s+)*(?:memory"
    r"|memories|notes)))(?:\s+that\b|\s*[:,–-])\s*(?P<en2>.+)",
    r"^(?:merke? dir|denke? (?:bitte )?da?ran|vergiss (?:bitte )?nicht|notiere?(?: dir)?"
    r"|speichere?(?: dir)?|halte? (?:bitte )?fest|behalte? (?:bitte )?im (?:hinter)?kopf|merken|notieren"
    r"|nicht vergessen|fürs protokoll|für (?:später"
    r"|die zukunft))(?: bitte)?(?: folgendes)?(?:\s*,?\s*dass\b|\s*:|\s*,(?!.*\b\w*zu(?: "
    r"|\w)\w+n\b))\s*(?P<de>.+)",
    r"^(?:souviens-toi|rappelle-toi|n['’]oublie pas|note(?: bien)?|(?:pour info,? )?à (?:noter|retenir)"
    r"|retiens|mémorise|garde (?:en tête|en mémoire)|pour mémoire|ajoute (?:ceci |ça )?à (?:la "
    r"|ta )?mémoire)(?:\s+que\b|\s+qu['’]|\s*[:,])\s*(?P<fr>.+)",
    r"^(?:recuerda|no olvides|ten en cuenta|anota|apunta|para que conste|(?:añade|guarda) (?:esto )?(?:en"
    r"|a) (?:la |tu )?memoria)(?:\s+que\b|\s*[:,])\s*(?P<es>.+)",
    r"(?P<end>.+?)[,;.–-]*\s+(?:please )?(?:(?:remember (?:that|this)|keep (?:that"
    r"|this) in mind)(?: (?:when|for|if)\b.*)?|note that(?: down)?|for (?:the record|future reference)"
    r"|merk dir das|souviens-t['’]en|recuérdalo|apúntalo)[.!]?$",
)
_DECIDED: Final = _Any(
    r"^(?:we|the team|\w+ and I)(?:['’]ve| have| has)? (?:finally )?(?:decided|agreed|settled on|chosen"
    r"|chose|standardi[sz]ed on)\b",
    r"^(?:we(?:['’]re| are) going with|it(?:['’]s| was| has been) (?:decided|agreed)|decision:)",
    r"^(?:the|our) (?:team['’]s )?(?:decision|convention|policy|rule)(?: here)? (?:is|was)\b",
    r"^wir haben\b.*\b(?:beschlossen|entschieden|vereinbart|geeinigt|festgelegt)\b",
    r"^(?:es wurde (?:beschlossen|entschieden)|(?:die|unsere) (?:regel|konvention|entscheidung) (?:ist"
    r"|lautet))",
    r"^(?:nous avons|on a|l['’]équipe a|il a été) (?:décidé|convenu|choisi|acté|opté)\b",
    r"^(?:on s['’]est mis d['’]accord|(?:la|notre) (?:règle|convention|décision) est)\b",
    r"^(?:(?:hemos|se ha|el equipo ha) )?(?:decidido|acordado|decidimos|acordamos|quedamos en)\b",
)
# An order, but for what is told of something: "never works", "always nice to see".
_ORDER: Final = (
    r"(?:always|never(?:\s+ever)?)\s+(?!(?:mind|again|an?|the|in|on|at|to|been|seen|had|easy|hard|good|bad"
    r"|nice|great|fun|happy|glad|true|false|null|nil|sure|enough|really|quite|\w+ed|\w+ing|only|exactly"
    r"|\w*[^s\W]s)\b)[a-z-]+\s+\S"
)
_TUN: Final = (
    r"(?:verwende|nutze?|benutze?|nimm|schreibe?|mache?|setze?|lass[e]?|antworte|frage?|teste|prüfe?"
    r"|committe?|pushe?|lösche?|ändere|benenne|führe?|starte|lege?|halte?|erkläre?|gib|ergänze|füge"
    r"|vermeide|formatiere|dokumentiere|zeige?|nenne|sprich|baue?|importiere)\b"
)
_FAIRE: Final = (
    r"(?:utilise|emploie|écris|mets|fais|réponds|demande|teste|vérifie|nomme|ajoute|garde|évite|lance|donne"
    r"|explique|laisse|crée|documente|préfère)\b"
)
_HACER: Final = (
    r"(?:usa|utiliza|escribe|pon|haz|responde|contesta|pregunta|prueba|nombra|añade|evita|guarda|ejecuta"
    r"|crea|documenta|explica|deja|da|dame)\b"
)
_LASTING: Final = (
    r"(?:from now on|from here on(?: out)?|(?:going|moving) forward|in (?:the )?future|henceforth|as of now"
    r"|as a (?:general )?rule|by convention|ab (?:jetzt|sofort)|von (?:nun|jetzt) an|künftig|zukünftig"
    r"|in zukunft|grundsätzlich|désormais|dorénavant|à partir de maintenant|dès maintenant|à l['’]avenir"
    r"|en règle générale|a partir de ahora|de ahora en adelante|en adelante|en el futuro|por norma"
    r"|como norma)\b"
)
_STILL: Final = r"(?! (?:noch|wieder|mehr)\b)"
_RULE: Final = _Any(
    rf"^(?:.*\s)?{_LASTING}[.!]*$|^{_LASTING}",
    rf"^(?:(?:you|we)\s+(?:should|must|have to)\s+|let['’]s\s+|I(?:['’]d like| want) you to\s+|(?:make"
    rf"|be) sure (?:to|you)\s+)?{_ORDER}",
    r"^you\s+(?:should|must)\s+(?:always|never)\s+\S",
    r"^(?:do not|don['’]?t)\s+(?:you\s+)?ever\s+\S",
    rf"^{_DO}\s(?:.*[,;]\s*(?:always|never\s+\S+)[.!]?$|.*\b(?:every time|whenever you|in (?:all"
    rf"|every) (?:of )?(?:my |our )?(?:repo\w*|projects?))\b)",
    rf"^(?:(?:do not|don['’]?t)\s+\w+|(?:only\s+)?use|prefer|avoid)\s.*(?:{_HERE})",
    rf"^{_TUN}.*\b(?:immer{_STILL}|nie|niemals|{_LASTING})",
    rf"^(?:immer{_STILL}|nie|niemals)\s.*en[.!]?$",
    r"^(?:.*\sbitte\s+(?:immer|nie|niemals|nur noch)\b|ich (?:will|möchte),? dass du\b.*\b(?:immer|nie"
    r"|niemals)\b)",
    rf"^(?:{_FAIRE}.*\b(?:toujours|jamais)\b|(?:ne |n['’])\S{{1,20}}(?: \S+)? jamais\b|toujours\s+\w+(?:er"
    rf"|ir|re)\b|(?:ne )?jamais (?:de\b|d['’]|\w+(?:er|ir|re)\b))",
    rf"^(?:siempre\s+(?:{_HACER}|\w+(?:ar|er|ir)\b)|{_HACER}\s.*\bsiempre\b|{_HACER}\s+siempre\b"
    rf"|nunca\s+\w+(?:as|es|ar|er|ir)\b|no\s+\w+(?:as|es)\s+(?:nunca|jamás)\b)",
)
# Of what is said to hold in a project.
_RULE_HERE: Final = _Any(
    r"^(?:(?:do not|don['’]?t)\s+\w+|(?:only\s+)?use|prefer|avoid|no|keine?n?|pas de|ningún|ninguna)\s",
    rf"^we\s+(?:only\s+|do not\s+|don['’]?t\s+)?{_DO}\s",
)
# Of oneself; what one always gets, or never did or understood, is a complaint or a story.
_COMPLAINTS: Final = (
    r"(?:get|got|see|saw|have|had|forg[eo]t|underst[ao]{1,2}[nd]+|knew|know|thought|think|hear|heard|wonder"
    r"|end(?:ed)? up|r[ua]n into|fail|could|can|expect\w*|try|been|seen|found|find|manage\w*|work\w*"
    r"|need\w* to look|was|were|came|went|ran|did|made|said|wrote|\w+[^e\W]ed)\b"
)
_KLAGEN: Final = r"(?:habe?n?|hatte\w*|bekomm\w*|krieg\w*|seh\w*|wuss\w*|konn\w*|müss\w*)\b"
_PREFER: Final = _Any(
    r"\b(?:I|we)\s+(?:(?:really|strongly|generally|usually|always|much)\s+)?(?:prefer|favou?r)\s+(?!(?:it"
    r"|that|them|this|those|option|[a-d1-4]\W*$|(?:your|the) (?:\w+ )?(?:one|version|variant|approach|way"
    r"|idea|solution))\b)\S",
    r"\b(?:I['’]d|I would|we['’]d|we would)\s+(?:much\s+)?rather\s+\S",
    rf"^(?:I|we)\s+(?:always|never)\s+(?!{_COMPLAINTS})\S",
    r"\bmy preference is\b|\bI like .* (?:better|more) than\b",
    r"\b(?:ich bevorzuge|wir bevorzugen|ich ziehe\b.*\bvor|mir (?:ist|sind|wäre)\b.*\blieber|(?:ich"
    r"|wir) (?:mag|mögen|hätten?|möchten?)\b.*\blieber)\b",
    rf"^(?:(?:wir|ich)\s+(?!{_KLAGEN})\w+|(?!{_KLAGEN})\w+\s+wir)\s+(?:.*\s)?(?:immer{_STILL}|nie|niemals"
    rf"|ausschließlich)\s+(?!{_KLAGEN})\S",
    r"\b(?:je préfère|nous préférons|on préfère|j['’]aime mieux|je privilégie)\s",
    r"^(?:on|nous)\s+(?:ne\s+|n['’])?(?!(?:a|avons|obtien\w*|reçoi\w*|arrive\w*"
    r"|voi\w*)\b)\w+\s+(?:toujours|jamais)\b",
    r"\b(?:prefiero|preferimos|preferiría|me gusta más)\s",
    r"^(?:(?:siempre|nunca)\s+|no\s+(?=\w+mos (?:nunca|jamás)))(?!(?:tene|ve|recibi|consegui|pudi"
    r"|sabe)mos)\w+mos\b",
)
_QUESTION: Final = _Any(
    r"\?\W*$",
    r"^(?:do|does|did|why|what|how|when|where|who|which|can|could|should|is|are|will|would) (?:we|you|I|it"
    r"|the|this|that|they|there)\b",
    r"^(?:warum|wieso|wann|wo|wie|welche[rs]?|pourquoi|comment|quand|por qué|cómo|cuándo)\b",
)
# What is asked for behind a statement.
_REQUEST: Final = re.compile(
    r",\s+(?:and |so )?(?:can|could|would|will|shall) (?:you|we|I)\b[^?]*\?$",
    re.IGNORECASE,
)
# For a task or a moment.
_PASSING: Final = _Any(
    r"\b(?:for|in|on|during) (?:this|the|that) (?:\w+ )?(?:refactor\w*|task|pr|pull request|ticket|change"
    r"|feature|branch|commit|demo|migration|session|example|exercise|file|function|case|sprint|bug|fix)\b",
    r"\b(?:for now|this time|just (?:this )?once|for the moment|at the moment|right now|for today|yet"
    r"|noch nicht|pas encore|todavía)\b",
    r"\b(?:option|variant|approach|plan|version) (?:[a-d1-4]|one|two|three)\b|\b(?:first|second|third|last"
    r"|former|latter|other) (?:approach|option|one|variant|version|idea|solution|way)\b",
    r"\b(?:tomorrow|today|tonight|yesterday|this (?:morning|afternoon|evening|week|month)|(?:next"
    r"|last) (?:week|month|sprint|release|night|year|\w+day)|in an? (?:hour|minute|week|day)|an? (?:hour"
    r"|minute|week|day) ago|later)\b",
    r"\b(?:diesmal|vorerst|erst ?mal|gerade|im moment|bis (?:morgen|zum?|du)|(?:erste|zweite|dritte"
    r"|letzte)[nrs]? (?:variante|lösung|option|version|ansatz)|(?:option|variante) [a-d1-4]|morgen|heute"
    r"|gestern|(?:nächste|letzte|diese)[nrs]? (?:woche|monat)|für diese[nrsm]? (?:\w+ )?(?:aufgabe"
    r"|refactoring|branch|pr|commit))\b",
    r"\b(?:cette fois|pour l['’]instant|en ce moment|demain|aujourd['’]hui|hier|la semaine (?:prochaine"
    r"|dernière)|(?:première|deuxième|seconde|dernière) (?:approche|option|solution|version)"
    r"|l['’]option [a-d1-4]|pour cette? (?:\w+ )?(?:tâche|branche|pr|refonte))",
    r"\b(?:esta vez|por ahora|de momento|ahora mismo|mañana|hoy|ayer|la (?:próxima )?semana (?:que viene"
    r"|pasada)?|(?:primera|segunda|última) (?:opción|variante|solución|versión)|la opción [a-d1-4]"
    r"|para est[ea] (?:\w+ )?(?:tarea|rama|pr))\b",
)
# As well, unless it is said to hold always.
_PASSING_UNLESS_ALWAYS: Final = _Any(
    r"\b(?:until|while you|before you|when you(?:['’]re| are)|once you|bevor du|jusqu['’]|avant de|hasta"
    r"|antes de)"
)
_FOR_EVER: Final = _Any(
    rf"\b(?:always|never|every|immer|nie|niemals|toujours|jamais|siempre|nunca|{_LASTING})\b"
)
# Of oneself, as one tells it: kept for all projects.
_OF_ONESELF: Final = _Any(
    r"\b(?:my (?:name|time ?zone|email|editor|shell|keyboard|language|pronouns?|birthday|preference)"
    r"|I(?:['’]m| am| live| work| use| like))\b",
    r"\b(?:mein(?:e)? (?:name|zeitzone|editor)|ich (?:bin|heiße|wohne|arbeite|nutze|mag))\b",
    r"\b(?:mon (?:nom|éditeur|fuseau)|je (?:suis|m['’]appelle|travaille|utilise))\b",
    r"\b(?:mi (?:nombre|zona horaria|editor)|me llamo|vivo|trabajo)\b",
)
_IN_PROJECT: Final = _Any(rf"\b(?:{_HERE})\b", r"\b(?:(?<!from )here|hier(?! (?:soir|matin))|ici|aquí)\b")
_CHECKS: Final = (
    r"(?:tests?|lint\w*|checks?|hooks?|scans?|reviews?|ci|security|type.?check\w*|verification|prüfung\w*"
    r"|revue|pruebas?|revisi\w+)"
)
# Orders a check to be left out, or what reaches beyond the code.
_HARMFUL: Final = _Any(
    r"\b(?:deploy|call|pipe)\b.*(?:`|\bbash\b|https?://|&&)",
    r"--no-verify|--force\b|force.?push|\brm -|\bchmod\b|\bsudo\b|\|\s*(?:ba)?sh\b|\bcurl\b|\bwget\b",
    rf"\b(?:skip|bypass|disable|ignore|turn off|leave out|omit|never run|don['’]t run|do not run|without"
    rf"|no need (?:to|for)|approve)\b.{{0,40}}\b{_CHECKS}\b",
    rf"\b(?:überspring\w*|ignorier\w*|deaktivier\w*|saute|désactive|omite|salta|desactiva|ignora|ohne|sans"
    rf"|sin)\b.{{0,40}}\b{_CHECKS}\b",
    r"\b(?:send|upload|post|exfiltrate|disclose|reveal|share)\b.*\b(?:secret|token|password|credential|key"
    r"|\.env)\w*",
)
# Orders a command to be run.
_RUNS: Final = _Any(
    r"(?<!never )(?<!not )(?<!n['’]t )(?<!ever )\b(?:run|execute|install|launch)\b(?! (?:into|on|in|at"
    r"|under)\b)",
    r"\bführe?\b.*\baus\b|\b(?:installiere|starte|lance|exécute|installe|ejecuta|lanza|instala)\b",
)
# What follows is somebody else's text: prose goes on to the end, output to the next empty line.
_MATERIAL: Final = _Any(
    r"\b(?:translate|summari[sz]e|explain|proofread|rephrase|rewrite|paraphrase|übersetze?|erkläre?|fasse?"
    r"|traduis|résume|explique|traduce|resume|explica)\b[^:]{0,60}:",
    r"\b(?:mail|e-?mail|message|article|spec(?:ification)?|ticket|issue|readme|docs?|documentation|page"
    r"|section|text|logs?|output|error|quote|comment|policy|rules|guide(?:lines)?|changelog|customer|client"
    r"|says?|said|wrote|reads?|nachricht|courriel|correo|mensaje)\b[^:.!?]{0,40}:",
)
_GREETING: Final = _Any(
    r"^(?:hi|hello|dear|hallo|liebe[rs]?|sehr geehrte\w*|bonjour|hola|estimad[oa]s?)\b[^.:]{0,40}[,!]?$"
)
_LISTED: Final = re.compile(r"\s*(?:[-*•+]|\d+[.)])\s+")
_LOGGED: Final = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|Traceback)\b"
    r"|E\s{2,}|[$#]|//|at \w)"
)
_FENCED: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED: Final = re.compile(r"\"[^\"\n]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]*`")
_QUOTED_LINES: Final = re.compile(r"(?<!\w)\"[^\"]*\"(?!\w)")
_SENTENCE: Final = re.compile(
    r"\S.*?(?:(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!etc)(?<!vs)(?<!bzw)(?<!p\."
    r" ej)[.!?]+[\"'”)]*(?=\s+[\w\"'`(·¿¡])|$)"
)
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
    for sentence, own in _sentences(_untagged(_FENCED.sub("·", prompt))):
        kept = _kept(sentence, own) if _SHORTEST <= len(sentence) <= _LONGEST else None
        if kept is not None:
            yield kept
            found += 1
            if found == _MOST:
                return


def is_preference(sentence: str) -> bool:
    """Whether a sentence that was kept says how things are to be done, not what is so."""
    begin = _BEGIN.search(sentence)
    said = sentence[begin.end() :] if begin else sentence
    return bool(
        _RULE.search(said) or _PREFER.search(said) or (begin and begin["here"] and _RULE_HERE.search(said))
    )


def _kept(sentence: str, own: str) -> tuple[str, str] | None:
    """Whom a sentence is about, and what of it is kept; None for one that is not meant to last. own: the sentence with
    dots for quoted words, which are somebody else's.
    """
    own = _REQUEST.sub("", own)
    begin = _BEGIN.search(own)
    assert begin is not None
    said = own[begin.end() :]
    rule = _RULE.search(said) or (begin["here"] and _RULE_HERE.search(said))
    if _QUESTION.search(said) and not (rule and begin["asked"]):
        return None
    told = _TELL.search(said)
    prefers = rule or _PREFER.search(said)
    if not (told or prefers or _DECIDED.search(said)):
        return None
    sentence = sentence[: len(own)]
    if told:
        # A tell names what it is about by whichever of its spellings fits.
        group = next(name for name, part in told.groupdict().items() if part)
        own, sentence = told[group].strip(), sentence[begin.end() :][slice(*told.span(group))].strip()
        rule = _RULE.search(own)
        prefers = rule or _PREFER.search(own) or _OF_ONESELF.search(own)
    passing = _PASSING.search(own) or (_PASSING_UNLESS_ALWAYS.search(own) and not _FOR_EVER.search(own))
    if passing or len(sentence) < _SHORTEST or not re.search(r"\w", own):
        return None
    of_person = prefers and not _IN_PROJECT.search(own)
    asks = _HARMFUL.search(sentence) or (rule and _RUNS.search(own))
    sentence = " ".join(sentence.split())
    kind = ASKS if asks else PERSON if of_person else PROJECT
    return kind, sentence[:1].upper() + sentence[1:] if told else sentence


def _unquoted(prompt: str) -> str:
    """A prompt without the quotation marks that stand around the whole of it: OpenCode's `run` puts them there."""
    whole = len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in prompt[1:-1]
    return prompt[1:-1] if whole else prompt


def _untagged(prompt: str) -> str:
    """A prompt without what stands in tags, as the program around the agent adds it; all behind one that begins a line
    and stays open. Types and names in brackets are no tags.
    """
    kept, at = "", 0
    for tag in _TAG.finditer(prompt):
        if tag.start() < at or tag[1]:
            continue
        end = re.compile(rf"</{re.escape(tag[2])}\s*>", re.IGNORECASE).search(prompt, tag.end())
        begins = not prompt[prompt.rfind("\n", 0, tag.start()) + 1 : tag.start()].strip()
        if end or begins:
            kept += prompt[at : tag.start()] + "\n"
            at = end.end() if end else len(prompt)
    return kept + prompt[at:]


def _sentences(prompt: str) -> Iterator[tuple[str, str]]:
    """The sentences of the person alone, each also with dots for what is quoted in it."""

    def dotted(quoted: re.Match[str]) -> str:
        return "·" * len(quoted[0])

    own = _QUOTED.sub(dotted, prompt)
    if own.count('"') % 2 == 0:
        own = _QUOTED_LINES.sub(dotted, own)
    pasted = listing = begun = False
    at = 0
    for line in own.splitlines(keepends=True):
        start, at = at, at + len(line)
        line = line.rstrip()
        if not line:
            pasted = pasted and not begun
            continue
        if pasted and _GREETING.search(line):
            # A letter has paragraphs.
            return
        begun = True
        if pasted or line.startswith((">", "    ", "\t", "|")) or _LOGGED.match(line):
            continue
        listed = _LISTED.match(line)
        if listed and listing:
            continue
        begin = listed.end() if listed else 0
        given = _MATERIAL.search(line, begin)
        if not listed:
            introduces = line.endswith(":")
            listing = bool(given or (introduces and not _SIGNS.search(line)))
            pasted, begun = bool(given and introduces), False
        if given and not _TELL.search(line[begin:]):
            line = line[: line.find(":", begin) + 1]
        for found in _SENTENCE.finditer(line, begin):
            yield prompt[start + found.start() : start + found.end()], found[0]


def edited_paths(event: Mapping[str, Any], root: str) -> Iterator[str]:
    """Paths of files in the project that a tool's call was about, from its root on."""
    for part in (event, event.get("tool_input"), event.get("tool_response")):
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
    inner = os.path.relpath(os.path.realpath(os.path.join(root, path)), root)
    parts = inner.split(os.sep)
    if parts[0] in ("..", ".") or os.path.isabs(inner):
        return
    if not any(part in _PASSED_OVER or part.startswith(".") for part in parts):
        yield inner
