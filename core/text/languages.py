"""The language of a text by its function words, and stems of words in each language that search knows.

A stem of a language other than English bears its name ("datenbank@german"), so that equal letters of two languages
stay two stems. What no stemmer touches (numbers, short names, other scripts) is the same in every language.

Everyday words are those that any text may hold, so that one in common says little about what two texts are about. They
are no stop words: search looks for them. They weigh less where a search is judged as a whole. Common words are those
of general and of technical English: in a memory of few notes nothing but this list tells them from rare ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Final, Literal, TypeAlias

from core.text.tokens import STOP_WORDS, fold, has_stem, snowball, stem, words

Language: TypeAlias = Literal["english", "german", "french", "spanish"]

# Documents hold the places of these as numbers: new ones go to the end. English is what nothing else is.
LANGUAGES: Final[tuple[Language, ...]] = ("english", "german", "french", "spanish")

# Folded. Words of a language that also are English ones ("in", "was") count for both.
_GERMAN: Final = """
aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da dabei dafur damit dann
daran darauf das dass dazu dein deine dem den denen denn der deren des dessen die dies diese diesem diesen
dieser dieses doch dort du durch ein eine einem einen einer eines er es euch fur gegen haben habe hat hatte
hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt
kann kein keine keinem keinen keiner konnen konnte mal man mehr mein meine mich mir mit muss mussen nach nicht
nichts nie noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen
sollte uber um und uns unser unsere unserem unseren unserer unter viel vom von vor wann war waren warum was
weil welche welchem welchen welcher welches wenn wer werden wie wieder will wir wird wo wurde wurden zu zum
zur zwischen dafuer fuer koennen koennte muessen ueber wuerde wurde wieso weshalb woher wohin womit lautet
heisst gibt
"""
_FRENCH: Final = """
a afin ai ainsi alors apres as au aucun aucune aussi autre autres aux avait avant avec avoir avons avez c ce
cela ces cet cette ceux chaque chez comme comment d dans de depuis des donc dont du elle elles en encore entre
est et etaient etait ete etre eu eux fait faut il ils j jamais je jusqu l la le les leur leurs lorsque lui m ma mais
me meme mes moins mon n ne ni nos notre nous on ont ou par parce pas pendant peu peut peuvent plus pour
pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si soit son sont sous sur
t ta te tes toi ton tous tout toujours toute toutes tres tu un une vers voici voila vos votre vous y
"""
_SPANISH: Final = """
a al algo alguna algunas alguno algunos antes aqui asi aun aunque cada como con contra cual cuales cuando
cuanto de del desde donde dos e el ella ellas ello ellos en entre era eran es esa esas ese eso esos esta
estaba estaban estamos estan estar estas este esto estos fue fueron ha habia han hasta hay he hemos la las le
les lo los mas me mi mis mucho muy nada ni no nos nunca nosotros nuestra nuestras nuestro nuestros o os otra otras
otro otros para pero poco por porque pues que quien quienes se sea ser si siempre sin sobre solo son soy su
sus tambien tan tanto te tener tiene tienen todo todos tu tus un una unas uno unos usted ustedes y ya yo
"""
_FUNCTION_WORDS: Final[Mapping[Language, frozenset[str]]] = {
    "english": STOP_WORDS,
    "german": frozenset(_GERMAN.split()),
    "french": frozenset(_FRENCH.split()),
    "spanish": frozenset(_SPANISH.split()),
}
_OTHERS: Final = tuple(language for language in LANGUAGES if language != "english")
# Single letters are what an apostrophe cut off ("it's", "l'API"): they tell no language.
_ALL_FUNCTION_WORDS: Final = frozenset(
    word for language in _OTHERS for word in _FUNCTION_WORDS[language] if len(word) > 1
)
# What identifies the language of a text; a text without any of the latter is in English.
SERVING_WORDS: Final = STOP_WORDS | _ALL_FUNCTION_WORDS
FOREIGN_WORDS: Final = _ALL_FUNCTION_WORDS - STOP_WORDS
# English words, names and abbreviations as well, codes of languages among them: they tell no language.
_HOMOGRAPHS: Final = """
ai au bin bis con da de dem den der des die dos du el en era es est et fait hat ins ja la las le les los ma mal man
mas me mi mon ob on os par plus pour sans se sea sin solo son sus tan te ten tout tu um un vers war y ya yo
"""
_ENGLISH_TOO: Final = STOP_WORDS.union(_HOMOGRAPHS.split())
# So many different function words that are not English too, and such a share of all words, tell another language; so
# do more of any, where they are a greater share.
_TELLING: Final = 2
_LEAST_SHARE: Final = 1 / 8
_MANY: Final = 3
_GREAT_SHARE: Final = 1 / 3
_LETTERS: Final[Mapping[Language, frozenset[str]]] = {
    "english": frozenset(),
    "german": frozenset("äöüß"),
    "french": frozenset("àâæçèéêëîïôùûœ"),
    "spanish": frozenset("áéíóúñ¿¡"),
}
# How umlauts are written where there is no key for them; after these letters "ue" is none ("neue", "Quelle").
_WITHOUT_UMLAUT: Final = re.compile(r"(?<![aeoq])ue|ae|oe")
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_MAY_BE_UMLAUT: Final = re.compile(r"[aou](?!e)")
_SHORTEST_RESPELT: Final = 4
_MOST_UMLAUTS: Final = 3


def language_of(words: Sequence[str], text: str = "") -> Language:
    """The language of folded words: that of the most function words, English where no other one leads clearly.

    text: that they were read from; a letter of one language in it ("ß") counts for as much as a function word.
    """
    return language_from_counts([word for word in words if word in SERVING_WORDS], len(words), text)


def language_from_counts(serving: Sequence[str], count: int, text: str = "") -> Language:
    """The same by those of `count` words that are in `SERVING_WORDS`."""
    found = [word for word in serving if word in _ALL_FUNCTION_WORDS]
    # Most notes are in English and hold hardly any of these.
    if len(found) < max(_TELLING, _LEAST_SHARE * count):
        return "english"
    counts = {language: sum(word in _FUNCTION_WORDS[language] for word in found) for language in _OTHERS}
    first, second = sorted(counts, key=lambda language: -counts[language])[:2]
    if counts[first] <= max(counts[second], sum(word in STOP_WORDS for word in serving)):
        return "english"
    served = _FUNCTION_WORDS[first].intersection(found)
    many = len(served - STOP_WORDS) >= _MANY and counts[first] >= _GREAT_SHARE * count
    telling = len(served - _ENGLISH_TOO)
    lettered = not text.isascii() and not _LETTERS[first].isdisjoint(text.lower())
    return first if telling and (many or telling + lettered >= _TELLING) else "english"


def serves_grammar(word: str, languages: Iterable[Language]) -> bool:
    """Whether a folded word is a function word of any of some languages."""
    return any(word in _FUNCTION_WORDS[language] for language in languages)


def stem_in(word: str, language: Language) -> str:
    """The stem of a folded word as notes of a language have it; that of `stem` in English."""
    return stem(word) if language == "english" else _stem_elsewhere(word, language)


@lru_cache(maxsize=50_000)
def _stem_elsewhere(word: str, language: Language) -> str:
    if not has_stem(word):
        return word
    if language == "french":
        # Folding took the accent that the stemmer knows participles by: "déployée".
        word = re.sub(r"ee(s?)$", r"ée\1", word)
    found = fold(snowball(language).stemWord(word))
    if language == "french" and found.endswith("y"):
        # "déployé" without its accent; "déployer" gives this stem.
        found = found[:-1] + "i"
    return f"{found}@{language}"


def with_umlauts_spelt_out(text: str) -> str:
    """The text with "ö" as "oe" and so on."""
    return unicodedata.normalize("NFC", text).translate(_UMLAUTS)


def respelt(word: str) -> tuple[str, ...]:
    """What a folded word may be with its umlauts written the other way: "groesse" and "grosse" are one word."""
    if len(word) < _SHORTEST_RESPELT or not has_stem(word):
        return ()
    plain = _WITHOUT_UMLAUT.sub(lambda found: found[0][0], word)
    if plain != word:
        return (plain,)
    places = [found.start() for found in _MAY_BE_UMLAUT.finditer(word)][:_MOST_UMLAUTS]
    return tuple(
        "".join(f"{letter}e" if place in chosen else letter for place, letter in enumerate(word))
        for count in range(1, len(places) + 1)
        for chosen in combinations(places, count)
    )


# Everyday words

_EVERYDAY: Final = """
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
don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn ain ll ve re
knows knew known taken took given gave gone went seen saw came comes told said thought kept held led left met paid sold
sent spent stood understood won written wrote heard felt found brought bought built began begun chosen chose
does doing done got gotten getting being made makes making lots
address code file id item list status title win won
wollen wird wurde werde hat habe haben hatte ist sind war waren kann muss soll will darf geht gibt macht kostet heißt
wer was wie wo wann warum welche welcher welches wieviel viel viele womit wohin woher mit der die das dem den des ein
eine einen einem einer und oder nicht aus von für auf bei nach zu zum zur über unter
quel quelle quels quelles qui que quoi quand comment pourquoi combien est sont était fait faire avoir être
le la les un une des du de dans pour avec sur par pas
qué quién cuál cuándo cómo dónde por cuánto cuántos cuánta es son era está hay hace hacer tiene el los las una
"""

_COMMON: Final = """
ability abroad absence absolute academic access accident accompany accomplish account accurate achieve acid acquire
active actor actress adapt addition adequate adjust administration admit adopt adult advance advantage adventure
advertise affair afford afternoon agency agenda agent aggressive agreement agriculture aid aim air aircraft airport
alarm album alcohol alive ally alter alternative amazing ambition analyse analysis ancient anger angle angry animal
anniversary announce annual anxiety anxious apart api apologise app apparent appeal apple application appoint
appreciate approach appropriate approve approximate april architect architecture archive area argue argument arise arm
army array arrest art artist aside aspect assess asset assign associate assume assumption assure atmosphere attach
attack attend attention attitude attract attribute audience august aunt automatic autumn available average award aware
awful baby background backup balance ball band bank bar barrier basic basis basket batch bath bathroom battle beach
bear beard beat beauty bed bedroom beer behaviour being belief bell below belt benefit beside beyond bike bill bind
bird birth birthday black blame blind block blood blow blue board boat body bone book boolean border boring born
borrow boss bottle bottom bowl box boy boyfriend brain branch brand brave bread break breakfast breast breath brick
bridge brief bright brilliant broad broadcast brother brown browser brush budget buffer bug bunch burden burn bus bush
butter button buyer byte cache cake calculate calm camera camp campaign cancel cancer candidate candle cap capable
capacity capital captain capture car carbon card career carpet cash cast castle cat category celebrate cell central
centre century ceremony chain chair challenge chamber champion channel chapter character characteristic charge charity
chart chase chat cheap cheese chemical chest chicken chief child childhood chip chocolate choice choose church
cigarette circle circumstance citizen city civil class classic classroom clean client climate climb clinic clock cloth
cloud club cluster coach coast coat coffee cold collapse colleague collect college column combine comfort command
commercial commission commit committee communicate community company compare comparison compete competition compile
complain complaint complex complicated component comprehensive compress computer concentrate concept concert conclude
conclusion condition conduct conference confident config configure confirm conflict confuse conscious consequence
conservative considerable consist constant construct consult consumer contemporary content contest context contract
contrast contribute control convention conversation convert convince cook cool cooperate cope core corner corporate
cottage cotton council counter country county couple courage court cousin cover cow crack craft crash crazy cream
creative creature credential credit crew crime criminal crisis criterion critical cross crowd crucial cry culture cup
curious currency curtain curve custom cycle dad damage dance danger dark data database daughter dead dear death debate
debt debug decade december decline decrease deep default defeat defence defend degree delay delete deliver delivery
demand democracy demonstrate deny department departure depend deploy deposit depress depth derive description desert
deserve design desire desk despite destroy destruction device devil diagram dialogue diary diet difficulty dig digital
dimension dinner direct director directory dirt dirty disable disappear disappoint disaster discount discovery disease
dish disk display dispute distance distinct distinguish distribute district disturb divide division divorce doctor
document dog dollar domain domestic door double doubt download dozen draft drama dramatic dream dress drink driver
drug dry due dust duty eager ear earn earth ease east eastern eat economic economy edge edit editor education
efficient effort egg elaborate elect electric electronic element eliminate email embarrass emerge emergency emotion
emphasis emphasise employ employee empty enable encode encounter encourage endpoint enemy energy engage engine
enormous enter enterprise entertain enthusiasm entire entitle entrance entry environment environmental equal equipment
equivalent error escape essay essential establish estate estimate evaluate eventual evidence evil evolve exam examine
excellent exchange excite exclude excuse execute exercise exhibition exit expand expansion expense experience expert
explanation explore export expose express extend extension extent external extra extract extraordinary extreme eye
facility factor factory failure faith fame familiar family famous fan fancy fantastic farm farmer fashion fat fate
father fault favour fear feature february federal fee feed feedback fellow female fence festival field fight figure
film filter final finance financial finger fire firm fish fix flag flat flavour flexible flight float floor flow
flower fly focus fold folder folk font food foot football foreign forest formal format former formula fortune forward
foundation frame framework freedom freeze frequency frequent fresh friday fridge friendship front frontend fruit
frustrate fuel fulfil function fund fundamental funny furniture gain gallery game gap garage garden gas gate gather
gene generate generous genetic gentle gentleman genuine gesture giant gift girl girlfriend git glad glance glass
global glove god gold golden government grab grade gradual graduate grand grandfather grandmother grant grass grateful
grave gray green greet grey ground growth guarantee guard guest guide guideline guilty guitar gun guy gym habit hair
hall hang hardware harm hash head header headline health healthy heart heat heaven heavy height hell hero hesitate
hide highlight highway hill hint hire historian historic history hit hobby hole holiday holy honest honour hook horror
horse hospital host hot hotel household http https huge human humour hunger hunt hurry hurt husband ice ideal identify
identity ignore illegal illness illustrate image imagine immediate impact implement implication impose impossible
impress inch incident income incorporate independent index indicate individual industry inevitable infant infection
influence initial injury inner innovation input inquiry insert inside insist inspect inspire install instance
institute instruct instrument insurance integer integrate intellectual intelligence intend intense intention
interaction interface internal international internet interpret interrupt interval interview introduce introduction
invest investigate invite iron island jacket january jealous jewel job joke journal journalist journey joy json judge
judgement juice july jump june junior jury justice justify key kick kid kill king kiss kitchen knee knife knock
knowledge label laboratory labour lack lady lake lamp land landscape language laptop laugh launch law lawyer lay layer
layout lazy leader leadership leaf league lean leather lecture leg legal legend lesson letter level liberal library
licence lie lift light limit link linux lip liquid literature load loan local lock log logic login lonely loose lord
loss loud lover lucky lunch luxury machine mad magazine magic mail maintain maintenance major male mall man manner map
march margin mark market marriage marry mass massive master match material math maximum mayor meal measure meat
mechanism media medical medicine medium member membership memory mental menu mere merge mess message metal method
metric middle might migrate mild mile military milk mill mine minimum minister minor mirror mission mistake mix
mixture mobile mode model moderate modern modify module mom monday monitor mood moon moral moreover mother motion
motivate motor mount mountain mouse mouth movement movie multiple murder muscle museum music musician mystery nail
narrow nation native nature neck negative neglect negotiate neighbour neighbourhood nerve nervous net network news
newspaper nobody nod node noise nor north northern nose notebook notice notification notion novel november nowhere
null nurse nut object obligation observe obtain obvious occasion occupy ocean october odd offence office official oil
online opera operate opinion opponent opportunity oppose opposite option oral orange ordinary organ organic origin
outcome output outside oven overall overcome override owe pace pack package page pain paint painter pair pale palm pan
panel panic pants paper paragraph parameter pardon parent park parliament parse participant particular partner
partnership party passage passenger passion passive passport password patch path patience patient pattern pause
payment peace peak pen penalty pencil pension percent percentage perfect period permanent permission personnel
perspective persuade pet phase phenomenon philosophy phone photo photograph phrase physical piano picture piece pig
pile pilot pin pipe pipeline pitch pity planet plant plastic plate platform player pleasant pleasure plenty plot
plugin plus pocket poem poet poetry pointer pole police policy polite politician poll pollution pool poor pop popular
population portion pose position possess post pot potato potential pound poverty powder power practice praise pray
precious precise predict prefix pregnant presence preserve president press pressure pretend pretty prey price pride
priest primary prince princess principal principle print priority prison privacy private prize procedure proceed
product profession professional professor profile profit program programme progress promote prompt proof property
proportion propose prospect protect protein protest protocol proud province provision proxy psychology public publish
pull pump punish pupil purchase pure purple purse pursue push puzzle qualify quality quantity quarter queen query
queue quiet quote race racial radical radio rail rain raise random range rank rapid rare rate ratio raw react reaction
reader realise reality rear recall recipe recognise recognition record recover recovery recruit recursive red redirect
reduce reduction reflect reform refuse region register regret regular regulate reject relationship relax release
relevant relief religion religious reluctant rely remark remote rent repair reply repository republic reputation
request rescue research reserve reset resident resist resolution resolve resort resource respect response restart
restaurant restore restrict retail retain retire retry reveal revenue reverse review revolution reward rice rich rid
ride ring rise risk river road rob rock role roll rollback romantic roof root rope rough round route routine row royal
rub rude ruin rule runtime rush sad safety sail sake salad salary sale salt sample sand sandwich satellite
satisfaction satisfy saturday scale scan scene schedule schema scheme school science scientific scientist scope score
scream screen script sea search season seat secret secretary section sector secure seed seek segment select senior
sensitive sentence separate september sequence series serious servant server service settle setup sex shade shadow
shake shape sharp shelf shell shelter shift shine ship shirt shock shoe shop shore shot shoulder shout shower shut shy
sick sight sign signal significant silence silent silk silly silver similar sing singer single sink sir sister site
skill skin skirt sky sleep slice slide slight slip slow smart smell smile smoke smooth snap snow soap social society
sock socket soft software soil soldier solid solution solve song sound soup source south southern space spare spec
species specific specify speech speed spell spirit spiritual split sport spot spread spring square stable stack staff
stage stair stamp standard star stare statement station statistic statue steady steal steel stem stick stock stomach
stone storage storm strategy stream street strength stress stretch strict strike string strip stroke strong structure
struggle student studio study stuff stupid style subject submit substance substantial succeed success sudden suffer
sufficient sugar suit suitable sum summary summer sun sunday supper supply surface surgery surprise surround survey
survive suspect sweet swim swing switch symbol symptom syntax system table tag tail talent tall tank tap tape target
task taste tax taxi tea teacher team tear technical technique technology teenager telephone television temperature
template temporary tend tendency tennis tension tent term terminal terrible test text theatre theme theory therapy
therefore thick thin third thread threat threaten thursday ticket tie tight till timeout tip tire token tongue tool
tooth top topic touch tough tour tourist toward tower town toy trace track trade tradition traffic train trainer
transaction transfer transform transition translate transport trap trash treasure treat treatment tree trend trial
trick trigger trip troop tropical trouble truck trust truth tube tuesday tune tunnel twin typical ugly ultimate unable
uncle unique unit universe university unknown unless unlike upload upper upset urban urge username utility vacation
validate valley valuable van variable variation variety vary vast vegetable vehicle victim victory video view village
violence violent virtual virtue virus visible vision visitor visual vital vocabulary voice volume voluntary volunteer
vote wage waist wake wall warm warn wash waste water wave weak wealth weapon weather web website wedding wednesday
url version location owner port
weigh weight welcome west western wet wheel whisper white wide widespread wife wild wind window wine wing winner
winter wire wise witness woman wood wooden worker workflow workshop workspace wound writer yaml yard yellow youth zero
zone
"""


@cache
def _stems() -> frozenset[str]:
    return frozenset(map(stem, words(_EVERYDAY)))


@cache
def _common_stems() -> frozenset[str]:
    return frozenset(map(stem, words(_COMMON)))


@cache
def _listed() -> frozenset[str]:
    return frozenset(f"{_EVERYDAY} {_COMMON}".split())


def listed_words() -> frozenset[str]:
    """All everyday and common words, folded."""
    return frozenset(words(f"{_EVERYDAY} {_COMMON}"))


def is_listed(word: str) -> bool:
    """Whether a lower-case word or its singular is listed as an everyday or common one; loads no stemmer."""
    return word in _listed() or (word.endswith("s") and word[:-1] in _listed())


def is_everyday(stemmed: str) -> bool:
    """Whether a stem is that of an everyday word, or a lone letter, such as the s of "user's"."""
    return stemmed in _stems() or (len(stemmed) == 1 and stemmed.isascii() and stemmed.isalpha())


def is_common(stemmed: str) -> bool:
    """Whether a stem is that of a common word that is no everyday word."""
    return stemmed in _common_stems() and not is_everyday(stemmed)
