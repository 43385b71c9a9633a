"""Capitalised words that are no names, and rules for the first word of a sentence."""

# The lists read better as they are.
# ruff: noqa: E501

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NO_NAMES: Final = _words(
    """
    a an the this that these those such some any each every either neither both all many much more most few fewer less
    several other another same own own's none no not yes nope yep
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs who whom whose
    which what when where why how there here one ones someone somebody something anyone anybody anything everyone
    everybody everything nobody nothing it's that's there's here's let's
    in on at by for from to of off with without within into onto upon over under above below between among across
    through during before after since until till against about around along beside besides behind beyond near toward
    towards via per despite except like unlike as than
    and or but nor so yet if then else because although though while whereas whether unless once also too both
    is are was were be been being am do does did done doing has have had having can could may might must shall should
    will would ought need needs dare let lets get gets got make makes made use uses used using
    very just only even still already always never often sometimes usually rarely again soon later now today tomorrow
    yesterday tonight recently currently finally first second third last next previously initially eventually however
    therefore thus hence meanwhile moreover furthermore otherwise instead rather maybe perhaps indeed overall
    additionally apparently basically actually generally normally originally ideally sadly unfortunately fortunately
    new old good bad great big small long short high low early late free full many main major minor
    please thanks thank hello hi hey dear sorry ok okay sure well oh ah
    key keys fact facts status todo todos fixme note notes summary decision decisions context result results task tasks
    issue issues error errors warning warnings info question questions answer answers example examples update updates
    updated step steps section goal goals reason reasons problem problems solution solutions details overview
    background description title type date time version user users assistant system human agent agents done
    pending open closed see tbd tba wip nb ps re fyi eta asap aka etc
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    add added adds change changed changes check checked create created fix fixed fixes implement implemented remove
    removed run runs set sets start started stop stopped test tested try tried keep consider ensure remember avoid
    don doesn didn isn aren wasn weren won wouldn couldn shouldn can't cannot
    """
)

# Nouns of everyday work that often open a sentence as its subject.
COMMON_NOUNS: Final = _words(
    """
    access account address admin alarm alert algorithm analysis answer app application apps architecture archive argument
    array article artifact author authentication backend backup backups base batch benchmark bot box branch branches bug
    bugs build builder builds button cache caching call callback calls case cases category cell chain chapter character
    children choice class classes cleanup client clients cloud cluster code column command commands comment comments
    commit commits community company compiler component components condition config configuration connection console
    constraint consumer container containers content controller copy core cost costs counter coverage current customer
    customers cycle daemon dashboard data database databases day days deadline default defaults dependencies dependency
    design desk developer developers device diagram directory disk document documents documentation domain driver edge
    editor element email employees endpoint endpoints engine engineer engineers entity entry environment evaluation event
    events exception experiment expert extension failure failures family feature features feedback field fields file
    files filter firmware flag flow folder form format framework frontend function functions game gateway grammar graph
    group groups guide handler hardware hash header history hook hooks host idea image images import importer index
    information input instance integration interface item items job jobs journal kernel kids label language latency layer
    layout leader library limit line lines link links linter list loader location log logger logging login logs loop
    machine mail maintainer management manager map mapping meeting memory menu message messages method metric metrics
    middleware migration migrations mode model models module modules money monitoring mother father brother sister
    neighbor neighbour name names network node nodes notification object objects office operator option options order output owner
    package packages page pages parameter parents parser part parts password patch path pattern payment people
    performance permission person pipeline pipelines plan plans plugin plugins point policy pool port post price process
    processes product production program project projects prompt property protocol provider proxy query queries queue
    rate record records reference regression release releases renderer report reports repo repository request requests
    research resource response responses retries review reviewer role room root route router routes rows rule rules
    runner runtime sales sample scheduler schema scope screen script scripts search secret security selection sentence
    server servers service services session sessions setting settings setup shell side sign site size snapshot socket
    software solver source sources space spec specification speed staff stage staging state stats storage store stream
    string structure student students style suite support syntax table tables tag tags target team teams template
    terminal tests text theme thread threads ticket tickets token tokens tool tools topic traffic transaction tree trigger
    type types validation value values variable variables vendor view views volume web website window word words work
    worker workers workflow workflows workspace year years
    afternoon attempt attempts autumn beer bike bread breakfast bus car cars cat cats child class coffee colleague
    colleagues customer customers day days deploy deploys developer developers dinner dog dogs door engineer engineers
    evening everything fish food friend friends hair health heat home hospital hotel house houses job kitchen
    luck lunch man meat milk moment money month months morning music neck news night noise nothing paper parking pain
    plane police power press pressure price prices progress rain release rent school shop sleep snow sound sport staff
    storm street sugar summer sun sunday tea temperature time today traffic train trains trip truth
    upload uploads water weather week weeks wind wine winter woman work
    """
)
# Words made of others: "Deployment", "Caching", "Robustness", "Quickly".
_DERIVED: Final = (
    "ing",
    "tion",
    "sion",
    "ment",
    "ness",
    "ity",
    "ance",
    "ence",
    "ism",
    "ly",
    "able",
    "ible",
    "ship",
)
_LONG_ENOUGH: Final = 6

# Verbs besides those of the aspects that stand behind a subject; those that end in "ed" need not be listed.
SUBJECT_VERBS: Final = _words(
    """
    uses helps supports needs provides replaces requires gives gave got gets takes took makes made finds found shows
    showed starts stops creates adds fixes merges reviews sends sent calls knows knew lives speaks spoke meets met
    suggests recommends proposes wants insists confirms approves rejects switches migrates picks adopts settles commits
    sticks stuck tries tried does did can could should would must has's doesn't didn't won't can't never always also
    learns learnt buys bought sells sold bakes runs owns releases ships
    accepts answers applies arrives asks ate beats became becomes began begins bought breaks brings broke brought builds
    calculates carries catches caught changes checks closes comes compiles connects contains converts crashes cuts deals
    deletes delivers depends detects drank draws drew drinks drives eats emails encodes ends escapes explains exposes
    exports fails fell felt fetches fights fits flies flew follows forgets forgot fought generates goes graduates grew
    grows guesses handles happens heard hears held hides hired hires hit holds hosts hurts imports includes indexes
    installs invites jogs jumps keeps kept laid laughs leads led lent lets lies listens loads locks logs lost manages
    matches means meant measures mentions moves opens orders organises organizes owes paid parses passes pays phones
    plays polls posts powers prevents prints produces promises pushes puts quit ran rang reads receives refactors
    refuses relies remembers renders rents replies resets resolves returns rewrites rewrote rides rode rose sang sat saw
    says schedules sees serves sets shook shot sings sits sleeps slept smiles smokes sorts spends spent splits stands
    stayed stays stole stood stores streams struck swam swims talks taught tells tests thinks threw throws times told
    tracks trains translates trusts turns understands understood updates upgrades validates volunteers votes waits
    walks washes watches wears went wins woke won wore works wraps writes wrote yields
    might will may shall had have is was
    """
)
# What may stand between a subject and its verb.
ADVERBS: Final = _words(
    "also always already even finally just never now often once only recently still sometimes then usually"
)


def is_derived(word: str) -> bool:
    """Whether a lower-case word is built as abstract nouns and adverbs are."""
    return len(word) >= _LONG_ENOUGH and word.endswith(_DERIVED)


def is_past(word: str) -> bool:
    """Whether a lower-case word is built as the past of a verb is."""
    return len(word) >= _LONG_ENOUGH - 2 and word.endswith("ed") and not word.endswith("eed")


def may_be_several(word: str) -> bool:
    """Whether a lower-case word is built as the plural of a noun is."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))
