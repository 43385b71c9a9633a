"""Words that decide whether a sentence says what a statement says, folded, of English, German, French and Spanish."""

from __future__ import annotations

from functools import cache
from typing import Final

from core.text.tokens import stem


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATIONS: Final = _set(
    "not no never cannot without none nobody nothing neither nor hardly nicht kein keine keinen keinem keiner "
    "keines nie niemals ohne niemand nichts weder ne pas jamais aucun aucune sans rien ni nunca jamas sin ningun "
    "ninguna ninguno nadie nada tampoco"
)
# What turns a statement around though nothing denies it.
REVERSALS: Final = _set(
    "refuse refuses refused reject rejects rejected stop stops stopped avoid avoids avoided deny denies denied "
    "forbid forbids forbidden against disable disables disabled remove removes removed drop drops dropped delete "
    "deletes deleted abandon abandons abandoned cancel cancels cancelled canceled revoke revokes revoked prohibit "
    "prohibits prohibited ban bans banned decline declines declined wrong false untrue fail fails failed enable "
    "enables enabled allow allows allowed add adds added accept accepts accepted approve approves approved start "
    "starts started dislike dislikes hate hates private public open closed lehnt abgelehnt verbietet verboten "
    "verbot entfernt geloscht gegen falsch refusent interdit interdite interdits supprime supprimee faux contre "
    "rechaza prohibido prohibida elimino eliminado falso contra off"
)
# What is no more than thought, supposed, planned once or told as somebody's own view.
HEDGES: Final = _set(
    "perhaps maybe possibly probably might could would if whether unless suppose supposedly allegedly apparently "
    "rumour rumor hypothetically imagine pretend wish hope hopes consider considers considered considering thinks "
    "believes guess claims claimed joke joked unclear unsure undecided formerly previously vielleicht eventuell "
    "moglicherweise wahrscheinlich konnte konnten wenn falls ob angeblich fruher glaubt meint behauptet ask asks "
    "asked plan plans planned try tries tried intend intends intended attempt attempted promise promises promised "
    "offer offers offered propose proposes proposed suggest suggests suggested supposed wrongly incorrectly "
    "mistakenly falsely outdated obsolete bittet bat plant geplant versucht beabsichtigt bietet schlagt "
    "falschlich irrtumlich veraltet demande demandait essaie essaye prevoit tort pide pidio intenta planea "
    "propone erroneamente obsoleto wants wanted mochte veut quiere erwagt unklar ehemals etwa peutetre "
    "probablement pourrait pourraient si serait supposons pense croit autrefois envisage quiza quizas acaso "
    "probablemente podria podrian supongamos cree afirma considera almost nearly barely fast beinahe presque casi"
)
QUANTITIES: Final = _set(
    "always never everything all every each everybody everyone anybody anyone nobody only any none most immer nie "
    "niemals alle jeder jede jedes jeden jedem niemand nur toujours jamais tous toutes tout toute chaque personne "
    "seulement uniquement siempre nunca jamas todos todas todo toda cada nadie solo solamente"
)
EVERYBODY: Final = _set(
    "everybody everyone anybody anyone all jeder alle jedermann tous chacun quiconque todos cualquiera"
)
# What tells somebody to do, lets or wants: an instruction, a permission, a preference.
TELLING: Final = _set(
    "must should shall may need needs needed require requires required requirement mandatory optional obliged "
    "obligatory ought allowed allow allows allowing permit permits permitted permission authorised authorized "
    "authorises authorizes approved forbid forbids forbidden prohibited banned free welcome okay ok fine entitled "
    "always never please ensure instruct instructs instructed order orders ordered tells told asks asked demands "
    "demanded expects expected recommends recommended rule policy instruction instructions prefer prefers "
    "preferred preference like likes liked love loves want wants wanted wish wishes favour favours favor favors "
    "dislike dislikes hate hates insist insists can cannot could trust trusted bypass skip ignore exempt waived "
    "muss mussen musst soll sollen sollte sollten darf durfen kann konnen erlaubt erlaubnis verboten zulassig "
    "vorgeschrieben verlangt fordert braucht bevorzugt bevorzugen mag mogen mochte wollen wunscht immer nie "
    "niemals bitte regel pflicht lieber doit doivent devez devrait faut peut peuvent pouvez autorise autorisee "
    "autorises permis permise interdit interdite obligatoire exige requiert prefere preferent aime aiment veut "
    "veulent souhaite toujours jamais veuillez regle debe deben debes deberia puede pueden puedes permitido "
    "permitida autorizado autorizada prohibido obligatorio requiere prefiere prefieren gusta gustan quiere "
    "quieren desea siempre nunca jamas regla access permissions rights privilege privileges zugriff rechte acces "
    "droits acceso permiso"
)
# How an instruction is told as if it were a fact.
ROUTINE: Final = _set(
    "before after each every whenever first session task tasks prompt run runs running execute executes executed "
    "vor nach jeder jede jedem aufgabe sitzung ausfuhren avant apres chaque tache antes despues cada tarea sesion "
    "ejecuta ejecutar use uses using include includes append prefix responsible obey obeys follow follows"
)
AGENTS: Final = _set(
    "agent agents assistant assistants ai llm model models claude codex copilot gemini gpt chatgpt bot bots "
    "cursor subagent kunstliche ki assistent assistenten agenten modell ia agente agentes asistente asistentes "
    "modelo"
)
READERS: Final = _set(
    "you your yours yourself du dich dir dein deine deinen euch euer vous votre vos tu tes toi usted ustedes ti "
    "tus contigo"
)
# First words of an order; a statement begins with who or what it is about.
ORDERS: Final = _set(
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
ORDER_OPENERS: Final = _set(
    "please always never whenever dont remember ensure important attention immer niemals bitte stets toujours "
    "veuillez siempre nunca jamas recuerda"
)
# What may stand before the order.
OPENERS: Final = _set(
    "please always never also then now first and so just not dont important reminder attention immer nie niemals "
    "bitte stets zuerst dann toujours jamais ne pas veuillez siempre nunca jamas no por favor primero to before "
    "after each every task session hey ok okay"
)
CONDITIONS: Final = _set(
    "only unless except if until after before when once during nur ausser wenn bis nachdem bevor sobald wahrend "
    "sauf si jusque apres avant quand seulement pendant salvo excepto hasta despues antes cuando solo durante"
)
FIRST_PERSON: Final = _set(
    "i me my mine we us our ours ich mir mich mein meine meinen wir uns unser unsere unserem je j moi mon ma mes "
    "nous notre nos yo mi mis nosotros nuestro nuestra nuestros prefiero uso usamos elegimos decidimos"
)
SELVES: Final = _set(
    "user author team project we group person speaker benutzer nutzer nutzerin anwender autor projekt gruppe "
    "utilisateur utilisatrice auteur equipe projet usuario usuaria autora equipo proyecto human me"
)
PRONOUNS: Final = _set(
    "he she it they this that these those his her its their him them er sie es dieser diese dieses seine ihre "
    "sein il elle ils elles ce cela cette son sa leur el ella ellos ellas esto eso este esta su sus"
)
CALENDAR: Final = _set(
    "january february march april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday januar februar marz mai juni juli oktober dezember montag dienstag mittwoch "
    "donnerstag freitag samstag sonntag janvier fevrier mars avril juin juillet aout septembre octobre novembre "
    "decembre lundi mardi mercredi jeudi vendredi samedi dimanche enero febrero marzo abril mayo junio julio "
    "agosto septiembre octubre noviembre diciembre lunes martes miercoles jueves viernes sabado domingo"
) | {"month of may"}
BEING: Final = _set("is are was were be been being get gets got")
# Behind these stands what is left, or not taken.
LEFT: Final = _set("from instead over than statt anstatt anstelle lieu lugar vez replacing")
REPORTING: Final = _set(
    "wrote writes written says said told tells states stated posted commented reads replied schrieb schreibt sagt "
    "sagte dit ecrit disait dijo dice escribio"
)
COUNTS: Final = _set("one two three four five six seven eight nine ten eleven twelve some many few most half")
BY: Final = _set("by von vom durch par por")
PREPOSITIONS: Final = _set(
    "since in on at during for from until before after every each by as with within seit ab am im um wahrend fur "
    "bis vor nach jeden jede depuis en le la les pendant pour chaque des a dans desde el los durante para cada "
    "hasta"
)
COORDINATORS: Final = _set(
    "and but while whereas because so although though then und aber wahrend weil denn obwohl et mais tandis car "
    "parce puis y pero mientras porque aunque pues"
)
# Words that carry no meaning of their own, beside the stop words of English.
LIGHT: Final = _set(
    "the a an is are was were be been being has have had do does did of to in on at by for with as than then "
    "there that which who whose what when where it its this these those he she they his her their him them i we "
    "you my our us me will would shall and or but so because since while although though if not no never also s t "
    "re der die das den dem des ein eine einen einem einer eines ist sind war waren wird werden wurde wurden hat "
    "haben hatte hatten zu zum zur im am auf aus bei mit nach von vom vor uber unter um fur durch und oder aber "
    "dass weil wenn als wie auch er sie es ihr ihre ihren ihrem sein seine wir uns unser unsere ich mein meine "
    "nicht kein keine nie sich da seit le la les l un une du de d au aux et ou mais que qu qui dont est sont "
    "etait etaient sera ont avait avoir etre pour par avec dans sur sous en ne n pas ce cet cette ces il elle ils "
    "elles nous notre nos je j mon ma mes son sa ses leur leurs se y c depuis el los las lo una unos unas del al "
    "o pero era eran fue fueron ha han habia ser estar esta estan para por con sin sobre su sus nuestro nuestra "
    "yo mi mis ni desde"
)
# What a model adds or changes without saying anything more: how it is called what the text just names.
GLUE: Final = _set(
    "service system project team tool application app program person developer company repository repo codebase "
    "software framework library currently now new also main called named dienst projekt werkzeug aktuell derzeit "
    "projet outil systeme actuellement servicio proyecto herramienta sistema actualmente because since due reason "
    "therefore instead rather over than order located made done going gets got both"
)
_GROUPS: Final = (
    "use utilize employ choose chose select pick adopt switch migrate move settle rely decide "
    "verwendet verwenden nutzt nutzen benutzt benutzen setzt einsetzen entschieden gewechselt umgestellt gewahlt "
    "utilise utilisent utiliser choisi choisit adopte migre passe "
    "usa usan usamos uso utiliza utilizan elegimos eligio elegido adopto migro migramos cambio",
    "store keep save persist hold live locate sit reside lie",
    "prefer favour favor",
    "like love enjoy",
    "dislike hate",
    "want wish",
    "fix repair resolve mend",
    "break fail crash",
    "begin start launch",
    "end finish",
    "create make build introduce",
    "remove delete drop",
    "require need must",
    "allow permit authorise authorize",
    "forbid prohibit ban",
    "replace supersede",
    "own maintain responsible lead charge",
    "deploy release ship",
    "happen occur",
    "listen port",
    "pay cost price",
    "job work employ",
    "everybody everyone all every each",
    "anybody anyone any",
    "expire expiry expiration",
    "lose loss lost",
    "daily day",
    "weekly week",
    "monthly month",
    "yearly annually year annual",
    "write written",
    "run execute",
    "bevorzugt bevorzugen bevorzuge lieber",
    "prefere preferent prefer",
    "prefiere prefieren prefiero",
)
# Words that may begin a sentence without being a name: those of the lists here.
KNOWN: Final = (
    NEGATIONS
    | REVERSALS
    | HEDGES
    | QUANTITIES
    | TELLING
    | ROUTINE
    | ORDERS
    | CONDITIONS
    | PREPOSITIONS
    | GLUE
    | SELVES
)


@cache
def _numbers() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, group in enumerate(_GROUPS):
        for word in group.split():
            found.setdefault(stem(word), set()).add(number)
    return {name: frozenset(numbers) for name, numbers in found.items()}


def is_use(stemmed: str) -> bool:
    """Whether a stem tells that something is used: then it is used whichever of both is named first."""
    return 0 in group_of(stemmed)


def group_of(stemmed: str) -> frozenset[int]:
    """The numbers of the groups of words that mean the same, of a stem; empty for a word that stands alone."""
    return _numbers().get(stemmed, frozenset())
