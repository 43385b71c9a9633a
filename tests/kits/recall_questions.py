"""Questions as people and agents put them, over two memories, with what answers each and some that nothing answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core import Memory
from core.facts.edits import remember
from core.model.draft import Draft
from core.model.note import Note


@dataclass(frozen=True)
class Questions:
    """answered: each with the keys of the facts and the titles of the notes that answer it, any of which is right."""

    write: Callable[[Path], object]
    answered: tuple[tuple[str, tuple[str, ...]], ...]
    unanswered: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """Of the questions with an answer: how many got it, another one, or none; of the others: how many got one."""

    right: int
    wrong: int
    missed: int
    false: int


def ask(questions: Questions, rule: Callable[[str], str | None]) -> Outcome:
    """Puts every question to a rule that gives the key or title of its answer, None for a miss."""
    found = [(rule(query), right) for query, right in questions.answered]
    right = sum(answer in accepted for answer, accepted in found)
    missed = sum(answer is None for answer, _ in found)
    false = sum(rule(query) is not None for query in questions.unanswered)
    return Outcome(right, len(found) - right - missed, missed, false)


def recalled(memory: Memory) -> Callable[[str], str | None]:
    """The rule that a memory follows, the fall-back to the notes included; nothing is counted."""

    def rule(query: str) -> str | None:
        found = memory.recall(query, record=False)
        return found.key if found.found else None

    return rule


def write_demo(home: Path) -> None:
    """The demo memory, written by hand: 155 facts and about 200 notes of a team."""
    from nuggets_tui.demo import write_demo

    write_demo(home)


def write_personal(home: Path) -> None:
    """A small memory of one person at home and at work."""

    def build(draft: Draft) -> None:
        for key, value in _PERSONAL_FACTS.items():
            remember(draft, "main", key, value)
        for number, (title, content) in enumerate(_PERSONAL_NOTES.items()):
            draft.put(Note(id=f"note-main-{number:08x}", nugget_name="main", title=title, content=content))

    Memory.open(home).change("written for the questions", build)


_PERSONAL_FACTS: Final = {
    "user:name": "Tobias Lindner",
    "user:preferred editor": "VS Code with vim keys",
    "user:favorite drink": "mint tea",
    "user:home airport": "HAM",
    "user:seat preference": "aisle",
    "user:wife birthday": "14 May",
    "user:son's school": "Goethe-Gymnasium",
    "user:dog name": "Pixel",
    "user:dentist": "Dr. Kamp, Thursdays",
    "user:car license plate": "HH-TL 204",
    "user:running shoes size": "44",
    "user:health insurance number": "X123",
    "user:spoken languages": "German, English, some Danish",
    "user:communication style": "short bullet points, no emojis",
    "project:test command": "uv run pytest -q",
    "project:build_command": "npm run build",
    "project:default branch": "trunk",
    "project:python version": "3.13",
    "project:formatter": "ruff format",
    "project:maxRetryCount": "5",
    "project:cacheTtlSeconds": "900",
    "project:staging_db_host": "db-stage.internal",
    "project:prod_db_host": "db1.internal",
    "project:api rate limit": "100 requests per minute",
    "project:training data bucket": "s3://corpus-v4",
    "project:best model checkpoint": "step-48000",
    "project:learning rate": "3e-4 with cosine decay",
    "project:gpu cluster login": "ssh hpc2",
    "shared:vpn endpoint": "vpn.example.org",
    "shared:meeting room code": "4711",
    "shared:sprint length": "two weeks, starts on Tuesday",
    "shared:release day": "Wednesday before lunch",
    "shared:code owners": "Lena for ingestion, Marek for serving",
    "shared:log server": "http://loki:3100",
    "shared:ticket prefix": "CRN-",
    "self:tone": "dry and brief",
    "self:name": "Otter",
    "project:entry point": "src/cli/main.py",
    "project:config file": "settings/base.yaml",
    "project:docker image": "ghcr.io/crane/serve",
    "project:port of the metrics exporter": "9108",
    "project:feature store": "Feast on Redis",
    "project:annotation tool": "Label Studio",
    "shared:holiday calendar": "no deploys from 20 December to 6 January",
}
_PERSONAL_NOTES: Final = {
    "Why we left Airflow": "The scheduler lost tasks after each restart. "
    "Dagster keeps the runs in Postgres and shows lineage.",
    "Tokeniser bug of March": "Emoji with skin tones were split in the middle; "
    "accuracy on chat data fell by four points until Lena pinned the library.",
    "How to rotate the API keys": "Create the new key in the console, wait an hour, then revoke the old one.",
    "Evaluation protocol": "Every checkpoint is scored on three held-out sets. "
    "We report macro F1, never accuracy alone.",
    "Trip to Copenhagen": "Train at 07:12, hotel near the harbour, talk at 14:00 on streaming inference.",
}

DEMO: Final = Questions(
    write=write_demo,
    answered=(
        (
            "how do i run the tests",
            (
                "test command",
                "How the tests are cut",
            ),
        ),
        (
            "how to run the tests",
            (
                "test command",
                "How the tests are cut",
            ),
        ),
        ("which editor does the user like", ("preferred editor",)),
        ("what editor does Mira use?", ("preferred editor",)),
        ("which shell should I assume", ("preferred shell",)),
        ("what is the user's name", ("user name",)),
        ("what is your own name", ("self:name",)),
        (
            "who is the user",
            (
                "user name",
                "user role",
                "Mira",
            ),
        ),
        ("what does the user do for work", ("user role",)),
        ("what are the user's pronouns", ("user pronouns",)),
        (
            "where is the auth middleware",
            (
                "auth middleware",
                "Auth middleware",
            ),
        ),
        ("which file has the rate limiter", ("rate limiter",)),
        (
            "where do the invoice templates live",
            (
                "pdf templates",
                "Invoice PDF renderer",
                "invoice templates",
            ),
        ),
        ("where are the fonts", ("fonts",)),
        ("how do I lint the code", ("lint command",)),
        ("how do i typecheck", ("typecheck command",)),
        ("how can I start the dev server?", ("dev server",)),
        ("which version of node do we use", ("node version",)),
        ("what node version is pinned", ("node version",)),
        ("npm or pnpm?", ("package manager",)),
        ("which package manager should be used here", ("package manager",)),
        ("which database version runs in production", ("postgres version",)),
        ("what version of postgres are we on", ("postgres version",)),
        ("what port does my local postgres listen on", ("local postgres port",)),
        ("redis port on my machine", ("local redis port",)),
        ("what is the url of staging", ("staging url",)),
        ("link to the status page", ("status page",)),
        (
            "how do I deploy to production",
            (
                "deploy to production",
                "Deploy runbook",
            ),
        ),
        (
            "how do i ship to staging",
            (
                "deploy to staging",
                "Deploy runbook",
            ),
        ),
        (
            "how to roll back a bad deploy",
            (
                "rollback",
                "Deploy runbook",
            ),
        ),
        ("who is on call right now", ("on call this week",)),
        ("who is on call this week?", ("on call this week",)),
        ("when is the code freeze", ("code freeze",)),
        (
            "when does the next release come out",
            (
                "next release",
                "Release 1.1 plan",
            ),
        ),
        (
            "what is the latest release",
            (
                "current release",
                "What went into 1.0.1",
            ),
        ),
        ("how long does an access token live", ("access token lifetime",)),
        (
            "how long are idempotency keys kept",
            (
                "idempotency key lifetime",
                "Idempotency keys",
            ),
        ),
        ("what is the maximum upload size", ("max upload size",)),
        ("how big may an upload be", ("max upload size",)),
        ("which languages do we support", ("supported locales",)),
        ("what currencies are supported", ("supported currencies",)),
        (
            "how often are webhooks retried",
            (
                "webhook retry policy",
                "Webhook delivery to customers",
            ),
        ),
        (
            "how should I round amounts",
            (
                "rounding rule",
                "rounding helper",
            ),
        ),
        ("how should branches be named", ("branch names",)),
        (
            "how do I write a commit message",
            (
                "commit style",
                "What a commit message holds",
            ),
        ),
        ("how many spaces to indent with", ("indentation",)),
        ("semicolons or not?", ("semicolons",)),
        ("when is Amal's birthday", ("birthday of amal",)),
        (
            "who does the frontend",
            (
                "frontend",
                "Jonas Lindqvist",
            ),
        ),
        (
            "who is our designer",
            (
                "design",
                "Zoë Müller",
            ),
        ),
        (
            "who handles security",
            (
                "security",
                "Tomasz Wójcik",
            ),
        ),
        ("who is allowed to thaw payouts", ("who may thaw payouts",)),
        ("who has to approve a migration", ("who approves migrations",)),
        ("how many reviews during the freeze", ("code freeze",)),
        ("how long are logs kept", ("log retention",)),
        ("when does the certificate renew", ("certificate renewal",)),
        ("when are backups taken", ("backup schedule",)),
        ("which timezone is the user in", ("time zone",)),
        ("what keyboard layout", ("keyboard layout",)),
        ("what coffee does she drink", ("coffee",)),
        ("where is the ci config", ("ci workflow",)),
        ("where do the terraform files live", ("terraform",)),
        (
            "how big is the connection pool",
            (
                "connection pool size",
                "Connection pool: 20 became 48",
            ),
        ),
        ("in which region do we run", ("region",)),
        ("what colour theme does the editor have", ("preferred editor",)),
        (
            "why was JavaScript's number not good enough for amounts",
            (
                "ADR-002: money is an integer",
                "JSON numbers lie above 2⁵³",
            ),
        ),
        ("what caused the double charges in october", ("Incident 12: charged twice",)),
        ("why were customers charged twice", ("Incident 12: charged twice",)),
        ("why did redis log everybody out", ("Incident 19: Redis forgot everybody",)),
        ("why did we choose RS256 over HS256", ("ADR-005: RS256, not HS256",)),
        ("why no graphql", ("ADR-011: REST stays",)),
        ("how do I upgrade postgres", ("Postgres 17 upgrade",)),
        ("what happened in incident 15", ("Incident 15: a migration held the door",)),
        ("how do we rotate keys", ("Key rotation",)),
        ("what did the load test show", ("Load test of 10 November",)),
        ("what are the pen test findings", ("Pen test findings",)),
        ("how do I reset staging", ("Resetting staging",)),
        ("why were the journey tests flaky", ("Why the journey tests were flaky",)),
        ("which files are generated", ("Generated files: do not edit",)),
        (
            "how are balances computed",
            (
                "How balances are computed",
                "How the balances are computed",
            ),
        ),
        ("what goes wrong with offset paging", ("Offset paging skips rows",)),
        ("what does dunning mean", ("Glossary",)),
        ("who is away in november", ("Who is away when",)),
        ("gift for amal", ("Gift ideas for Amal",)),
        ("how does Mira review code", ("How Mira reviews",)),
    ),
    unanswered=(
        "what is the wifi password",
        "who is the ceo",
        "what does the parking garage cost",
        "how many vacation days do we get",
        "where is the fire extinguisher",
        "what is the user's favourite film",
        "when is the user's wedding anniversary",
        "what is the name of Jonas's dog",
        "which gym does Noa go to",
        "what is the phone number of the landlord",
        "how do I connect the printer in the hallway",
        "what salary does Kenji have",
        "what is the kubernetes namespace of the frontend",
        "which kafka topics exist",
        "where is the android app built",
        "what is the mongodb connection string",
        "how do i open the elasticsearch console",
        "which terminal font does the user like",
        "what is the guest list for the christmas party",
        "how do I submit my travel expenses",
        "what is the shoe size of the user",
        "which airline does the user fly with",
        "what is our slack workspace called",
        "where do we host the wordpress blog",
        "who won the hackathon",
        "what is the license plate of the company car",
        "what is the purple elephant called",
        "how many bananas fit in a violin",
        "tell me about the dragon in the castle",
        "where did the penguin hide the umbrella",
        "which planet has the loudest trumpet",
        "is the moon made of cheese",
        "do you remember the lighthouse keeper's hat",
        "what colour is the submarine",
        "name a thing that swims",
        "what number comes after infinity",
        "is there a file about unicorns",
        "the name of the volcano",
        "what is the value of friendship",
        "why is the sky blue",
        "what is the meaning of life",
        "who let the dogs out",
        "how tall is mount everest",
        "what is the capital of peru",
        "when did napoleon die",
        "how do I bake sourdough bread",
        "sing me a lullaby about tractors",
        "what is the best recipe for pancakes",
        "quantum chromodynamics",
        "listen to the silent orchestra",
        "marble noodle giraffe",
    ),
)
PERSONAL: Final = Questions(
    write=write_personal,
    answered=(
        ("how do I run the tests", ("project:test command",)),
        ("what's the command to build", ("project:build_command",)),
        ("which editor does the user prefer", ("user:preferred editor",)),
        ("what does the user like to drink", ("user:favorite drink",)),
        ("what is the user's favourite drink", ("user:favorite drink",)),
        ("aisle or window seat?", ("user:seat preference",)),
        ("when is my wife's birthday", ("user:wife birthday",)),
        ("what is the dog called", ("user:dog name",)),
        ("what's the name of the dog", ("user:dog name",)),
        ("which school does my son go to", ("user:son's school",)),
        ("who is my dentist", ("user:dentist",)),
        ("what is the licence plate of the car", ("user:car license plate",)),
        ("what shoe size for running", ("user:running shoes size",)),
        ("which languages does the user speak", ("user:spoken languages",)),
        ("how should I communicate with the user", ("user:communication style",)),
        ("which branch is the default", ("project:default branch",)),
        ("what version of python do we use", ("project:python version",)),
        ("which formatter do we use", ("project:formatter",)),
        ("how many times do we retry at most", ("project:maxRetryCount",)),
        ("how many retries max", ("project:maxRetryCount",)),
        ("max retry count", ("project:maxRetryCount",)),
        ("ttl of the cache in seconds", ("project:cacheTtlSeconds",)),
        ("what is the cache ttl", ("project:cacheTtlSeconds",)),
        ("database host for staging", ("project:staging_db_host",)),
        ("what's the host of the production database", ("project:prod_db_host",)),
        ("what rate limit does the api have", ("project:api rate limit",)),
        ("which bucket holds the training data", ("project:training data bucket",)),
        ("what was the best checkpoint", ("project:best model checkpoint",)),
        ("what learning rate should I use", ("project:learning rate",)),
        ("how do I log in to the gpu cluster", ("project:gpu cluster login",)),
        ("vpn address", ("shared:vpn endpoint",)),
        ("code for the meeting room", ("shared:meeting room code",)),
        ("how long is a sprint", ("shared:sprint length",)),
        ("on which day do we release", ("shared:release day",)),
        ("who owns the ingestion code", ("shared:code owners",)),
        ("where are the logs", ("shared:log server",)),
        ("what prefix do tickets have", ("shared:ticket prefix",)),
        ("what is your name", ("self:name",)),
        ("what is my name", ("user:name",)),
        ("what's the user called", ("user:name",)),
        ("where is the entry point of the cli", ("project:entry point",)),
        ("where is the config", ("project:config file",)),
        ("which docker image do we serve", ("project:docker image",)),
        ("metrics exporter port", ("project:port of the metrics exporter",)),
        ("on which port does the exporter run", ("project:port of the metrics exporter",)),
        ("where are features stored", ("project:feature store",)),
        ("what tool do we use for annotation", ("project:annotation tool",)),
        ("when are no deploys allowed", ("shared:holiday calendar",)),
        ("why did we drop airflow", ("Why we left Airflow",)),
        ("what was the tokenizer bug", ("Tokeniser bug of March",)),
        ("how do i rotate api keys", ("How to rotate the API keys",)),
        ("how are checkpoints evaluated", ("Evaluation protocol",)),
        ("which hotel in copenhagen", ("Trip to Copenhagen",)),
        ("what happened with the emoji", ("Tokeniser bug of March",)),
    ),
    unanswered=(
        "what is the wifi password",
        "what's the user's favorite movie",
        "when is my daughter's birthday",
        "name of the cat",
        "what is the name of the cat",
        "who is my lawyer",
        "which gym do i go to",
        "what is the user's salary",
        "where is the kafka broker",
        "what terraform version",
        "which linter do we use",
        "how do I restart nginx",
        "what is the price of gold",
        "how old is the pope",
        "what is the purple elephant called",
        "is there a file about dragons",
        "how many penguins fit in a fridge",
        "who painted the mona lisa",
        "what is the number of the bus",
        "tell me a thing about whales",
        "why do cats purr",
        "what color is the bathroom",
        "who invented the telephone",
        "what is the weather tomorrow",
        "which wine goes with fish",
        "how do i tie a bow tie",
        "what is the size of jupiter",
        "name three rivers",
        "where do babies come from",
        "when is the next train to Berlin",
        "giraffe umbrella",
        "what is the password of the safe",
        "what is the mortgage rate",
        "who is the landlord",
        "which keyboard does the user type on",
        "what is the swift code of the bank",
        "where can I buy stamps",
        "how fast is a cheetah",
        "recipe for lasagna",
        "what is the melody of the anthem",
    ),
)
