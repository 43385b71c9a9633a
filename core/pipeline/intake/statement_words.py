"""Words by which a statement denies another, takes its place or limits it, folded, in seven languages."""

# The lists read better as they are.
# ruff: noqa: E501

from __future__ import annotations

import re
from typing import Final

from core.text.languages import FOREIGN_WORDS
from core.text.tokens import STOP_WORDS, fold, stem


def _set(text: str) -> frozenset[str]:
    return frozenset(map(fold, text.split()))


def _phrases(text: str) -> frozenset[str]:
    return frozenset(fold(phrase.strip()) for phrase in text.split(","))


NEGATIONS: Final = _set(
    "not no never cannot cant dont doesnt didnt isnt wasnt wont arent neither nor none nobody nothing without hardly "
    "nicht kein keine keinen keinem keiner keines nie niemals ohne niemand nichts weder "
    "ne n pas jamais aucun aucune rien sans ni nunca jamás sin ningún ninguna ninguno nadie nada tampoco "
    "non nessun nessuno nessuna senza niente não nunca jamais nenhum nenhuma sem ninguém "
    "niet geen nooit zonder niemand niets"
)
# In these "no" means "in the".
PORTUGUESE: Final = _set("é são da das dos uma um na pelo pela não também em")
ONLY: Final = _set(
    "only solely exclusively just nur ausschließlich bloß lediglich seulement uniquement exclusivement solo sólo "
    "solamente únicamente exclusivamente soltanto só somente apenas alleen slechts uitsluitend"
)
EVERYBODY: Final = _set(
    "anyone anybody everyone everybody all any every each jeder jede alle jedermann tous toutes chacun chaque todos "
    "todas cualquiera cada tutti tutte chiunque ogni qualquer iedereen alle elke"
)
AND: Final = _set("and or & und oder et ou y e o en of sowie also too")
# Behind a denial they say that it was so before.
NO_MORE: Final = _set("anymore longer more mehr plus más piu più mais meer")
BEFORE_MORE: Final = _set("any no ne n ya ja")
NO_LONGER: Final = _phrases(
    "no longer, no more, any more, any longer, not anymore, nicht mehr, nicht länger, ya no, não mais, já não, niet meer, "
    "niet langer, non più"
)
INSTEAD_OF: Final = _phrases(
    "instead of, rather than, in place of, in lieu of, statt, anstatt, anstelle, anstelle von, au lieu de, au lieu du, "
    "a la place, it was, they were, that was, es war, sie waren, c était, ce était, eram, era antes, plutôt que, en lugar de, en vez de, en vez del, en lugar del, invece di, invece del, invece della, "
    "al posto di, al posto del, em vez de, em vez do, em vez da, no lugar de, ao invés de, in plaats van"
)
REPLACED: Final = _set(
    "replaced replaces replace supersedes superseded ersetzt ersetzen ersetzte abgelöst löst ablöst remplace remplacé "
    "remplacée remplacent remplacer reemplaza reemplazó reemplazado reemplazada sustituye sustituido sustituyó "
    "sostituisce sostituito sostituita substitui substituiu substituído substituída trocamos trocou vervangt vervangen"
)
OVER: Final = _phrases(
    "dropped, removed, abolished, retired, cancelled, canceled, discontinued, deprecated, gone, abandoned, ended, "
    "decommissioned, sunset, unsupported, killed, switched off, shut down, thrown out, turned off, phased out, is history, "
    "used to, abgeschafft, abgeschaltet, gekündigt, entfernt, eingestellt, entfällt, ausgemustert, weggefallen, aufgegeben, "
    "supprimé, supprimée, abandonné, abandonnée, arrêté, arrêtée, eliminado, eliminada, abandonado, abandonada, cancelado, "
    "cancelada, retirado, retirada, abolito, abolita, rimosso, rimossa, eliminato, eliminata, removido, removida, "
    "afgeschaft, verwijderd, opgezegd, gestopt, uitgezet"
)
FROM: Final = _set("from von vom aus d de du des del da dal dalla do van")
TO: Final = _set(
    "to nach zu zum zur auf à au vers a al hacia verso per para naar and but und aber sondern mais sino maar for since in with"
)
CHANGE_VERBS: Final = _set(
    "moved move moves migrated migrate migrates switched switch switches changed change changes converted went renamed "
    "rewritten ported transferred took shifted resized upgraded downgraded relocated "
    "umgestellt umgezogen gewechselt migriert verschoben geändert übernommen wechselt zieht umbenannt "
    "passé passée passe migré migrée déplacé déplacée changé changée basculé "
    "pasó pasa migró migrado cambió cambiado movió movido trasladado migramos cambiamos pasamos "
    "passato passata migrato migrata spostato spostata cambiato cambiata "
    "passou passa migrou migrado mudou mudado mudamos passamos migramos "
    "verhuisd overgestapt gewijzigd gemigreerd verplaatst veranderd"
)
_MORE_CHANGES: Final = _set(
    "raised increased lowered reduced extended shortened doubled halved bumped cut grew shrank decreased instead "
    "erhöht gesenkt verlängert verkürzt verdoppelt halbiert angehoben reduziert augmenté augmentée réduit réduite relevé "
    "aumentó aumentado redujo reducido subió bajó amplió ampliado aumentato aumentata ridotto ridotta "
    "aumentou aumentado reduziu reduzido verhoogd verlaagd verlengd verkort "
    "now since jetzt nun seit inzwischen mittlerweile maintenant désormais dorénavant depuis ahora desde ora adesso agora "
    "nu voortaan sinds meanwhile"
)
CHANGES: Final = re.compile(
    r"\b(?:"
    + "|".join(sorted(CHANGE_VERBS | _MORE_CHANGES | REPLACED))
    + r"|from now on|as of|ab sofort|a partir de|took over)\b"
)
# Words of change, which are nothing that a statement is about.
CUES: Final = (
    CHANGE_VERBS | _MORE_CHANGES | REPLACED | ONLY | NO_MORE
    | frozenset(word for phrase in NO_LONGER | INSTEAD_OF | OVER for word in phrase.split() if " " in phrase or phrase in OVER)
    | _set("on back new old former formerly previously before vorher früher alt neu favour favor history")
)  # fmt: skip
# What may stand in one statement and not in the other without a difference.
FILLERS: Final = (
    _set(
        "now currently today jetzt nun aktuell maintenant désormais ahora actualmente ora adesso agora nu from on anymore "
        "the a an der die das ein eine le la les un une el los las il lo gli o os as um uma de het een since"
    )
    - _set("on from")
    | ONLY
    | _set("noch")
)
IS: Final = _set(
    "is are was were be ist sind war est sont es son era é são è sono is zijn was = becomes remains"
)
THE: Final = _set(
    "the der die das le la les el los las il lo o a de het our unser unsere notre nuestro nuestra nosso nossa"
)
# What stands before the one place, time or thing.
ONE_PLACE: Final = _set(
    "in at to until by under bei um bis auf nach zu à en dans sous jusque a hasta em no na até op tot naar bij sobre"
)
# Who or what does so does it in one place.
_PLACED: Final = "live lives lived reside resides located based hosted situated works sits stands wohnt liegt steht habite vive abita woont staat"
PLACED: Final = frozenset(stem(fold(word))[:6] for word in _PLACED.split())
SUBJECT_PRONOUNS: Final = _set(
    "we i wir ich nous je nosotros yo noi io nós eu wij usamos utilizamos enviamos tenemos usiamo abbiamo temos"
)
BY: Final = _set("by with durch mit par por da dal door")
PURPOSE: Final = _set("for für pour para per voor in on")
COUNTS: Final = {
    fold(word): str(number)
    for number, listed in enumerate(
        ("one", "two zwei deux dos dois duas due twee", "three drei trois tres três tre drie",
         "four vier quatre cuatro quatro quattro", "five fünf cinq cinco cinque vijf", "six sechs seis zes",
         "seven sieben siete sette zeven", "eight acht huit ocho oito otto", "nine neun nueve nove negen",
         "ten zehn dix diez dez dieci tien"), 1
    )
    for word in listed.split()
}  # fmt: skip
BREAKS: Final = _set(
    "because weil parce porque perché omdat but sondern aber mais sino pero ma mas maar while whereas während"
)
DATES: Final = _set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays "
    "sundays january february march april june july august september october november december montag dienstag mittwoch "
    "donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags freitags januar februar märz mai juni juli "
    "oktober dezember lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août "
    "septembre octobre novembre décembre lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril "
    "mayo junio julio agosto septiembre octubre noviembre diciembre lunedì martedì mercoledì giovedì venerdì domenica "
    "segunda terça quarta quinta sexta maandag dinsdag woensdag donderdag vrijdag zaterdag zondag daily weekly monthly "
    "hourly nightly täglich wöchentlich monatlich"
)
# Of these a thing has one.
_ATTRIBUTES: Final = (
    "branch limit port name size language database format mode default owner version timeout host hostname region policy "
    "licence license colour color day time maximum minimum length period interval level rate address path url budget "
    "deadline queue cache backend frontend provider warehouse retention manager lead maintainer head status type theme "
    "datenbank sprache größe name adresse anbieter frist standard base langue taille délai idioma tamaño plazo base "
    "lingua dimensione idioma tamanho prazo taal grootte termijn telemetry method storage server office"
)
ATTRIBUTES: Final = frozenset(stem(fold(word))[:6] for word in _ATTRIBUTES.split())
LIGHT: Final = (
    STOP_WORDS
    | FOREIGN_WORDS
    | NEGATIONS
    | ONLY
    | EVERYBODY
    | AND
    | IS
    | THE
    | SUBJECT_PRONOUNS
    | _set(
        "may must shall should might will would can could up out off per via using through by with also again still then "
        "than longer own any more most least at once there here its their it they he she has have had having "
        "muss soll kann darf wird werden wurde wurden hat haben durch für mit von bei als auch noch "
        "doit peut faut par pour avec dans sous sur se fait font qui que "
        "debe puede hay por para con se hace está van "
        "deve può per con da dal del della di si fa il lo la gli "
        "deve pode por para com do da dos das se no na em os as um uma "
        "moet kan mag wordt worden door voor met van het een de op in aan bij"
    )
) - _set("use uses go door")
# Written otherwise, the same.
SAME: Final = {
    form: words.split()[0]
    for words in (
        "deploy deploys deployed deployment deployments deploying", "use uses used using utilise utilisons usamos usa uso",
        "support supports supported unsupported", "send sends sent", "write writes written wrote rewritten",
        "keep keeps kept", "build builds built", "include includes included", "run runs ran running",
        "choose chose chosen", "take takes took taken",
    )
    for form in map(fold, words.split())
}  # fmt: skip

# Things of which one takes another's place.
_FAMILIES: Final = (
    "postgresql postgres mysql mariadb sqlite mongodb cockroachdb cassandra dynamodb oracle mssql couchdb timescaledb influxdb "
    "redshift bigquery snowflake clickhouse duckdb databricks firestore",
    "redis memcached valkey keydb dragonfly", "kafka rabbitmq nats sqs activemq pulsar mosquitto emqx zeromq celery sidekiq",
    "python rust go golang java kotlin scala ruby php typescript javascript swift elixir erlang haskell zig lua luau perl dart c++ c#",
    "django flask fastapi rails laravel symfony spring quarkus micronaut express nestjs phoenix gin actix axum",
    "react vue svelte angular solid ember preact qwik", "webpack vite rollup parcel esbuild turbopack rspack gulp grunt",
    "jest vitest mocha jasmine", "cypress playwright selenium puppeteer testcafe", "pytest unittest nose nextest",
    "jenkins travis circleci buildkite bitrise teamcity drone bamboo gitlab github bitbucket codeberg gitea",
    "aws gcp azure hetzner ovh heroku fly vercel netlify digitalocean render railway scaleway ionos backblaze cloudflare",
    "npm yarn pnpm bun", "pip poetry uv pipenv conda pdm hatch", "slack mattermost teams discord zulip rocketchat",
    "jira linear asana trello notion confluence youtrack shortcut clickup", "vault cyberark doppler infisical",
    "grafana datadog newrelic prometheus zabbix nagios sentry rollbar bugsnag jaeger tempo zipkin honeycomb",
    "pagerduty opsgenie victorops", "keycloak zitadel auth0 okta cognito authentik", "sendgrid mailgun mailjet postmark ses mailchimp",
    "twilio vonage messagebird plivo", "stripe adyen paypal braintree klarna mollie redsys",
    "terraform pulumi cloudformation ansible chef puppet opentofu", "docker podman containerd", "kubernetes nomad swarm mesos ecs",
    "nginx caddy traefik apache haproxy envoy", "vim neovim emacs vscode zed helix sublime", "tabs spaces", "mapbox leaflet maplibre",
    "hilt koin dagger", "sphinx mkdocs docusaurus jekyll hugo", "rest graphql grpc soap", "elasticsearch opensearch solr algolia meilisearch typesense",
    "ubuntu debian fedora alpine centos arch nixos", "mlflow wandb neptune comet", "dhl hermes ups fedex dpd gls",
)  # fmt: skip
FAMILY_OF: Final = {word: number for number, family in enumerate(_FAMILIES) for word in family.split()}

# That something is used or supported is not what tells it from others.
SAY_LITTLE: Final = frozenset(
    SAME.get(word, stem(word)[:6])
    for word in ("use", "support", "contract", "vertrag", "version", "nutzen", "gebruik", "utilise")
)
WHEN: Final = _set(
    "since in until till by at seit bis im depuis en desde hasta em até da sinds tot before after version"
)
CJK_DENIES: Final = re.compile("ません|ない|なく|ずに|不|没|沒|无|無し|未|禁止|廃止|停止")
CJK_REPLACES: Final = re.compile(
    "ではなく|じゃなく|でなく|の代わり|代わりに|に移行|から[^。]{1,20}(?:に|へ)(?:移|変|切)|に変更|へ変更|に切り替|をやめ|改为|改為|改用|换成|換成|替换|替換|取代|而不是|不再|迁移到|遷移到|从[^。]{1,20}(?:到|迁|换)"
)
CJK_GRAMMAR: Final = re.compile(
    "です|ます|ました|ません|ました|している|しています|である|という|のは|では|には|を|は|が|の|に|で|と|も|的|了|在|是"
)
CJK_TOPIC: Final = re.compile("^[^はが]{1,30}[はが]")
