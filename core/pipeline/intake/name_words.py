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
    mib gib kib tib nan mhz ghz kwh
    don doesn didn isn aren wasn weren won wouldn couldn shouldn can't cannot
    """
)

# Words that open what people say to each other or to an agent, in several languages, and pronouns and articles of these.
OPENERS: Final = _words(
    """
    noted done understood agreed perfect great excellent super nice cool fine right correct exactly absolutely certainly
    wonderful awesome good thanks got looks sounds seems works working running looking checking reading fixing deploying
    starting restarted restarting updated written added pushed merged applied implemented verified confirmed recorded
    resolved clear careful careful wow yeah yep nah cheers lgtm nope hmm hm alright gotcha pleasure welcome regards
    two three four five six seven eight nine ten hundred dozen zero attendees participants agenda nan ack
    wir ich sie er es ihr du man der die das den dem des ein eine einen einem einer und oder aber denn wenn weil dass ob
    ja nein doch nun jetzt dann danach davor bitte danke gerne klar genau gut super prima wunderbar perfekt stimmt
    verstanden notiert erledigt fertig richtig falsch auch noch nur schon sehr dabei dafür hier dort heute morgen gestern
    bisher seit für mit von aus nach bei zu zum zur im am um auf in an über unter vor hinter neben ohne gegen durch soll
    sollen kann kannst können muss müssen darf will wollen möchte hat haben ist sind war waren wird werden wurde wurden
    alle alles jede jeder jedes kein keine nie niemals immer neue neuer neues alte wichtig achtung außerdem allerdings
    je tu il elle on nous vous ils elles le la les un une des du de ce cet cette ces mon ton son notre votre leur et ou
    mais donc car si oui non merci bien très parfait compris terminé noté entendu super voilà voici attention regarde
    regarde puis ensuite alors aussi encore déjà toujours jamais maintenant hier demain pour avec sans dans chez sur
    sous par entre depuis pendant avant après quand comment pourquoi qui que quoi où faut il y je fait faites
    yo tú él ella nosotros vosotros ellos ellas el los las unos unas lo al del este esta estos estas ese esa mi su
    nuestro nuestra sus y o pero porque sí no gracias bien muy perfecto entendido listo hecho vale claro bueno ahora
    hoy mañana ayer ya nunca siempre también tampoco solo sólo además entonces luego cuando donde cómo qué quién usamos
    tenemos queremos ponlo mira para con sin por entre desde hasta antes después revisando
    eu você ele ela nós eles elas os as um uma uns umas meu seu nosso nossa e ou mas porque sim não obrigado obrigada
    bom boa ótimo perfeito certo pronto feito anotado entendi encontrei ainda agora hoje amanhã ontem já nunca sempre
    também só então depois quando onde como quem usamos temos para com sem por desde até antes se do da dos das no na
    io tu lui lei noi voi loro il lo gli una uno questo questa e o ma perché sì grazie bene molto perfetto capito fatto
    pronto certo ecco ora oggi domani ieri già mai sempre anche solo allora poi quando dove come chi usiamo abbiamo per
    con senza da fino prima dopo
    ik jij je u hij zij wij we jullie de het een dit dat deze die mijn jouw uw zijn haar ons onze en of maar want als
    omdat ja nee dank bedankt goed prima mooi klaar begrepen genoteerd gedaan getest nu vandaag morgen gisteren al nog
    nooit altijd ook alleen dan daarna wanneer waar hoe wie wat moet moeten kan kunnen zal voor met zonder van naar bij
    uit sinds tot tegen door
    """
)
# People that a session labels what was said by.
SPEAKERS: Final = _words(
    """
    user assistant system human agent ai bot tool developer dev me you claude codex chatgpt gpt gemini copilot cursor
    nutzer nutzerin benutzer benutzerin anwender assistent assistentin mensch utilisateur utilisatrice usuario usuaria
    asistente usuário usuária assistente utente gebruiker gebruikster ユーザー アシスタント 用户 助手 사용자 어시스턴트
    q a question answer frage antwort
    """
)
# What somebody is, written before the name.
TITLES: Final = _words(
    """
    mr mrs ms miss mx dr prof professor doctor sir madam lord lady rev fr sr jr st capt captain
    herr frau fräulein dipl ing mag monsieur madame mademoiselle mme mlle señor señora señorita sra srta don doña
    signor signora signore dott dottore senhor senhora meneer mevrouw dhr mevr
    ceo cto cfo coo ciso cio vp svp evp pm po sre
    principal senior junior staff lead chief head vice executive associate deputy acting interim distinguished
    engineer developer architect manager director president officer analyst designer consultant administrator admin
    scientist researcher maintainer teacher coach intern trainee owner
    entwickler entwicklerin leiter leiterin chef chefin kollege kollegin ingenieur ingénieur directeur directrice
    ingeniero ingeniera director directora gerente jefe jefa colleague coworker teammate
    """
)
# Short forms of formats, protocols and ideas that name nothing in particular, and words of programs in capitals.
GENERIC_ACRONYMS: Final = _words(
    """
    api apis abi ascii asap aot ast bin bom bsd cdn ci cd cidr cli cms cnn cors cpu crc cri crud css csv cta cte cve cvs
    cwd dag db ddl ddos dev dhcp dlq dll dml dns dom dos dpi dsl dto e2e eof eol erd etl fifo fk fps ftp fqdn gb gc gcc
    gdpr ghz gif gps gpu gpus gui guid guids hdd hdr hex hmac html http https i2c i18n iam ide ides id ids io iops iot ip
    ips ipv isbn iso jit jpeg jpg js json jsonl jwt jvm kb kpi kpis kvm l10n lan ldap led lf lfs lgtm lib llm llms lock
    lru lsp lts lvm mac mb md mfa mime ml mmu mpi mr mrs mtu mvp mvc nan nat nfc nfs nic nlp nps nsfw ntp null nvme oci
    ocr oidc ok okr olap oltp oom oop orm os osi otp p50 p95 p99 pcm pdf pid pii pin pk png poc pop pos pr prs ps pwa qa
    qos qps raid ram rbac rca rdbms regex repl rest rfc rfcs rgb rnn rom rpc rpm rps rss rtc rtt rx saas sast sbom scp sdk
    sdks seo sftp sha sigterm sigkill sla slas slo slos sms smtp soa soap soc spa spi spf sql ssd ssh ssl sso ssr stdin
    stdout stderr svg tcp tdd tls tmp toc todo toml tps ttl tty tui tx txt uart ubi udp ui uid uml uri uris url urls usb
    utc utf utf8 uuid uuids ux vat vcs vlan vm vms vpc vpn vps wal wan wasm wcag wip wlan www xml xmpp xss xsd yaml yml
    yaml ym zip mit gpl agpl lgpl eula nda faq q1 q2 q3 q4 h1 h2 eod eow cob kb mib gib tib kib ms ns us hz khz mhz
    select insert update delete from where join left inner outer group order create table drop alter grant revoke begin
    commit rollback null not and or int bigint smallint text varchar bool boolean float double true false const let var
    trace debug info notice warn warning error fatal critical pass fail skip passed failed get post put patch head
    options max min avg sum count readme changelog license true false yes no on off cet cest gmt est pst edt pdt mez
    dsn totp hotp saml oauth crc xor sram dram eeprom eprom gpio adc dac pwm spi can flash rtos mcu fpga asic soc pcb
    cbor dpkg grpc mtls bgp ospf mpls sdn nvm lstm gan mlp rag ner pos bf16 fp16 fp32 int8 fp8 tf32
    """
)
# What stands before a common noun of German, and before a name hardly ever.
GERMAN_DETERMINERS: Final = _words(
    """
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem
    meiner dein deine deinen sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem
    unserer euer eure dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden jedem welcher welche
    welches alle allen aller viele vielen wenige wenigen manche einige einigen mehrere beide beiden im am zum zur vom
    beim ins ans aufs fürs pro je zwei drei vier fünf sechs sieben acht neun zehn
    """
)
GERMAN_BEFORE_NAMES: Final = _words(
    "von aus nach zu mit bei für durch statt über gegen ohne an auf per via und oder sondern nur als nicht mehr bis"
)
_GERMAN_NOUNS: Final = ("ung", "ungen", "heit", "keit", "schaft", "tion", "tät", "nis", "tum", "ling", "en", "e", "ern", "eln", "ment", "age", "ik", "ur", "zeit", "tag", "jahr", "haus", "amt", "satz", "plan")  # fmt: skip
# Verbs of other languages behind a subject.
FOREIGN_VERBS: Final = _words(
    """
    est a veut doit garde utilise gère maintient remplace tourne préfère es fue está tiene quiere lleva usa debe puede
    prefiere mantiene é foi tem quer cuida aprova deve pode prefere è ha vuole deve usa preferisce gestisce is heeft wil
    beheert gebruikt blijft moet onderhoudt möchte mag braucht nutzt verwendet pflegt betreut
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
    constraint consumer container containers content controller copy core cost costs counter coverage customer
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
    alerts backlog changelog checklist doc docs feed feeds hotfix hotfixes kickoff readme retro roadmap rollout runbook
    runbooks sprint standup stacktrace trace traces webhook webhooks wiki opcode payload payloads mutex semaphore
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
    looks seems remains stays drops blocks serves sponsors hosts ships lands belongs wants walks washes watches wears went wins woke won wore works wraps writes wrote yields
    might will may shall had have is was
    """
)
# What may stand between a subject and its verb.
ADVERBS: Final = _words(
    "also always already even finally just never now often once only recently still sometimes then usually"
)


def may_be_german_noun(word: str) -> bool:
    """Whether a lower-case word is built as common nouns of German are."""
    return word.endswith(_GERMAN_NOUNS)


def is_derived(word: str) -> bool:
    """Whether a lower-case word is built as abstract nouns and adverbs are."""
    return len(word) >= _LONG_ENOUGH and word.endswith(_DERIVED)


def is_past(word: str) -> bool:
    """Whether a lower-case word is built as the past of a verb is."""
    return len(word) >= _LONG_ENOUGH - 2 and word.endswith("ed") and not word.endswith("eed")


def may_be_several(word: str) -> bool:
    """Whether a lower-case word is built as the plural of a noun is."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))
