"""The language of the search box: what a text asks for, which notes that admits, and how it is said."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kits.drafts import LONG_AGO, NOW, make_fact_note, make_link, make_note
from kits.hostile import HOSTILE

from core.model.names import iso
from core.model.note import Note, replace
from core.search.conditions import Asked
from core.search.query_syntax import (
    parse_question,
    plain_question,
)
from core.text.normalise import LONGEST_QUERY

TOKEN = make_note(
    1, title="JWT token format", content="RS256, claims sub and tid.", tags=("auth", "tea-time")
)
PIECES = st.sampled_from(
    ['"', "“", "-", "--", ":", ",", " ", "\t", "\n", "\x00", "\x1b[2J", "\u202e", "\ud800", "[/x]", "é", "日本", "<",
     ">", "=", "30d", "1y", "2026-01-01", "9999", "today", "auth", "tag:", "is:", "has:", "hits:", "updated:",
     "created:", "scope:", "type:", "title:", "nugget:", "subject:", "hidden", "ſcope:", "project", "user:coffee",
     "http://x", "'"]
)  # fmt: skip
TYPED = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=60))


def admits(text: str, note: Note = TOKEN, *, now: datetime = NOW, new_since: str | None = None) -> bool:
    """Whether the question of a text admits a note."""
    return parse_question(text).admits(note, Asked(now, new_since))


def changed(**ago: float) -> Note:
    """A note changed so long ago."""
    return make_note(7, created_at="2024-03-02T12:00:00.000Z", updated_at=iso(NOW - timedelta(**ago)))


def said(text: str) -> list[str]:
    """The clauses of a text, broken ones marked."""
    return [("! " if clause.broken else "") + clause.text for clause in parse_question(text).clauses]


@pytest.mark.parametrize(
    "text",
    ["what did we decide about the deploy?", "http://example.org:8080/a?b=c", "meeting at 10:30",
     "user:coffee self:style shared:rule test command session:now", "key: value, scope: wide, tag: nothing",
     "std::sort type::new scope::Inner", "git commit --amend --no-edit -v", "don't 'quote' it's", "foo:bar",
     "- one - two -- three -1 -5", '12" pipe, 6" long', 'say "hi"x', '{"key": 1}', "tag:// is:/x",
     "c++ c# a=b a->b a<b>c", "gcc -std=c++20 -O", "日本語のノート"],
)  # fmt: skip
def test_natural_sentences_and_shell_lines_pass_as_words(text: str) -> None:
    question = parse_question(text)
    assert question.words == text
    assert not question.narrow
    assert said(text) == [f"words: {text}"]


def test_a_phrase_is_preferred_and_one_with_a_plus_must_stand_in_the_note_as_whole_words() -> None:
    question = parse_question('auth "JWT  Token" “tid.”')
    assert question.words == "auth JWT Token tid."
    assert question.phrases == ("JWT Token", "tid.")
    assert not question.narrow
    assert admits('"nothing of this"')
    assert admits('+"jwt TOKEN"')
    assert admits('+"claims sub"')
    assert admits('+"tea-time" +format')
    assert not admits('+"jwt tok"')
    assert not admits('+"oken format"')
    assert not admits("+staging")
    assert not admits('+"format RS256"'), "title and content are no one text"
    assert admits('+"コーヒー"', make_note(2, title="朝のコーヒーを飲む"))


def test_an_exclusion_leaves_out_the_word_its_plural_and_phrases() -> None:
    assert parse_question("deploy -staging") == parse_question("-staging deploy")
    assert parse_question("deploy -staging").excluded == ("staging",)
    staging = make_note(3, title="Deploy", content="To staging first.")
    assert not admits("deploy -staging", staging)
    assert not admits("deploy -Stagings", staging)
    assert not admits('-"staging first"', staging)
    assert admits("-stage -first-aid", staging)
    assert not admits("-claim")
    assert not admits("-auth")
    assert admits("-user -memory -note"), "tags that every note has are no text"


def test_words_with_a_dash_in_a_command_line_are_words() -> None:
    for line in ("tar -x --force -1 -old", "ls -rn | head", "find . -name", "unpack -xzf -v", "cd ~/x -all"):
        assert parse_question(line).excluded == (), line
        assert parse_question(line).words == line
    assert parse_question("`tar -x` -draft").excluded == ("draft",)
    assert parse_question("token-draft").excluded == ()


def test_a_note_that_has_a_word_as_a_flag_stays() -> None:
    for line in ("tar -xzf file", "ls -la", "git -porcelain"):
        assert admits(line, make_note(4, title="Unpack", content="`tar -xzf f`, ls -la, git --porcelain"))
    assert not admits("first -aid", make_note(4, title="first-aid"))


def test_a_word_with_a_dash_that_leaves_no_note_out_is_a_word() -> None:
    assert parse_question("token -draft", lambda word: word == "draft").excluded == ("draft",)
    assert parse_question("token -draft", lambda word: False).words == "token -draft"


def test_code_between_backquotes_is_one_phrase_in_which_nothing_is_read() -> None:
    question = parse_question('how do I `git branch -d "old" tag:x`?')
    assert question.phrases == ('git branch -d "old" tag:x',)
    assert not question.narrow
    assert parse_question("a ` lone one").words == "a ` lone one"


ADMIT = (
    "tag:auth", "tag:AUTH", 'tag:"tea time"', "tag:auth,none", "-tag:none,other", "scope:user", "type:note",
    "-scope:project -scope:self", "nugget:memory", "subject:user", "title:jwt", "title:tok", 'title:"form jwt"',
    "is:note", "is:fact,note", "-is:hidden", "has:tags", "-has:links", "hits:0", "hits:<1", "hits:<=0",
    "TAG:auth Is:Note",
)  # fmt: skip
REFUSE = (
    "tag:auth tag:none", "-tag:auth", "scope:project,self", "nugget:mem", "subject:login", "title:oken",
    'title:"jwt nothing"', "is:fact", "is:pinned", "has:links", "has:recalls", "hits:>=1", "hits:>0",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "admitted"), [*((one, True) for one in ADMIT), *((one, False) for one in REFUSE)]
)
def test_conditions_admit(text: str, admitted: bool) -> None:
    assert parse_question(text).words == ""
    assert parse_question(text).narrow
    assert admits(text) is admitted


def test_kinds_and_holdings_of_other_notes() -> None:
    fact = make_fact_note(9, "test command", "pytest -q", hits=4, links=(make_link(TOKEN),), tags=("Pinned",))
    for text in (
        "is:fact",
        "is:pinned",
        "has:links",
        "has:recalls",
        "hits:>3",
        "hits:>=4",
        "hits:4",
        "hits:>1 hits:<9",
    ):
        assert admits(text, fact), text
    assert not admits("hits:>1 hits:<3", fact)
    assert admits("title:name", make_note(8, title="userName in profile_name"))
    assert admits("title:=>", make_note(8, title="a => b"))


@pytest.mark.parametrize(
    ("text", "ago", "admitted"),
    [
        ("updated:<30d", {"days": 29}, True),
        ("updated:<30d", {"days": 31}, False),
        ("updated:30d", {"days": 29}, True),
        ("updated:>1y", {"days": 400}, True),
        ("updated:>1y", {"days": 300}, False),
        ("updated:<2h", {"hours": 1}, True),
        ("updated:<2w", {"days": 13}, True),
        ("updated:>1mo", {"days": 31}, True),
        ("-updated:<30d", {"days": 31}, True),
        ("updated:today", {"hours": 11}, True),
        ("updated:today", {"hours": 13}, False),
        ("updated:2026-11-17", {"days": 1}, True),
        ("updated:>2026-11-17", {"days": 1}, False),
        ("updated:>=2026-11-17", {"days": 1}, True),
        ("updated:<2026-11-17", {"days": 1}, False),
        ("updated:<=2026-11-17", {"days": 1}, True),
        ("updated:<2026-11-17", {"days": 2}, True),
        ("updated:2026-11", {"days": 1}, True),
        ("updated:2026", {"days": 400}, False),
        ("updated:>2025", {"days": 1}, True),
        ("updated:<30d", {"days": -3}, True),
        ("created:<30d", {"days": 1}, False),
        ("created:2024-03-02", {"days": 1}, True),
    ],
)
def test_times_are_ages_or_dates(text: str, ago: dict[str, float], admitted: bool) -> None:
    assert admits(text, changed(**ago)) is admitted


def test_dates_are_meant_in_the_time_zone_of_now() -> None:
    late = make_note(1, updated_at="2026-11-17T23:30:00.000Z")
    assert not admits("updated:today", late)
    assert admits("updated:today", late, now=NOW.astimezone(timezone(timedelta(hours=2))))
    for hours in (-12, 14):
        there = NOW.astimezone(timezone(timedelta(hours=hours)))
        assert admits("updated:2026-11-17,2026-11-18,2026-11-19", changed(hours=0), now=there)


def test_a_note_without_a_time_is_neither_young_nor_old() -> None:
    lost = replace(TOKEN, created_at="some day", updated_at="")
    for text in ("updated:<30d", "updated:>1y", "created:2026", "is:new"):
        assert not admits(text, lost)
        assert admits(f"-{text}", lost)


def test_hidden_notes_come_alone_or_when_told() -> None:
    hidden = replace(TOKEN, hidden=True)
    assert not admits("jwt", hidden)
    assert not admits("tag:auth -is:hidden", hidden)
    assert admits("is:hidden", hidden)
    assert not admits("is:hidden", TOKEN)
    assert parse_question("is:hidden").hidden
    assert not parse_question("-is:hidden").hidden
    assert parse_question("tag:auth").admits(hidden, Asked(NOW), include_hidden=True)
    assert not parse_question("-is:hidden").admits(hidden, Asked(NOW), include_hidden=True)


def test_new_is_what_changed_since_the_last_visit_or_within_a_day() -> None:
    assert admits("is:new", changed(hours=23))
    assert not admits("is:new", changed(hours=25))
    assert admits("is:new", changed(hours=25), new_since=iso(NOW - timedelta(hours=26)))
    assert not admits("is:new", changed(hours=1), new_since=iso(NOW))
    assert not admits("is:new", make_note(1, created_at=LONG_AGO))
    assert admits("is:new", changed(hours=23), new_since="never")


@pytest.mark.parametrize(
    "text",
    ["hits:>x", "hits:99999999999", "updated:soon", "updated:2026-02-30", "updated:<99999999y", "is:open", "has:wings",
     "scope:wide", 'title:"jwt', '"jwt', '-"jwt', "nuget:ops", "-tags:auth"],
)  # fmt: skip
def test_what_cannot_be_read_is_words_and_said(text: str) -> None:
    question = parse_question(f"tag:auth {text} token")
    assert question.words == f"{text} token"
    assert len(question.conditions) == 1
    (broken,) = [clause.text for clause in question.clauses if clause.broken]
    assert broken.startswith(text)


def test_a_typo_in_the_name_of_a_condition_names_the_one_that_is_meant() -> None:
    (_, broken) = parse_question("token tags:auth").clauses
    assert "tag?" in broken.text


@pytest.mark.parametrize(
    "text", ["todo:fix", "https://x.org", "std::vector", "host:80", "note:", "tags: auth"]
)
def test_a_word_with_a_colon_that_is_like_no_condition_is_a_word(text: str) -> None:
    assert not any(clause.broken for clause in parse_question(text).clauses)


def test_what_is_being_typed_changes_nothing_yet() -> None:
    for text in (
        "scope:",
        "tag:",
        "-tag:",
        "is:hid",
        "updated:",
        "updated:<30",
        "updated:>2026-0",
        "hits:>",
        "type:pre",
    ):
        assert parse_question(text).empty, text
        assert parse_question(f"auth {text}").words == "auth"
        assert said(text) == [f"{text} is incomplete"]
        assert parse_question(f"{text} auth").words == f"{text} auth"


def test_how_a_query_was_read_is_said_in_plain_words() -> None:
    assert said('auth "a b" tag:x,y -tag:z -staging updated:<30d hits:>3 is:new has:links') == [
        "words: auth",
        'exact first: "a b"',
        "without: staging",
        "tag x or y",
        "not tag z",
        "changed in the last 30 days",
        "recalled more than 3 times",
        "new",
        "has links",
    ]
    assert said('-is:pinned -has:tags hits:1 created:>1y updated:<=2026 updated:<1d +jwt +"a b"') == [
        "with: jwt",
        'with: "a b"',
        "not pinned",
        "no tags",
        "recalled 1 time",
        "created more than 1 year ago",
        "changed up to 2026",
        "changed in the last day",
    ]
    assert said("") == []


@given(TYPED)
@example('tag:"')
@example("updated:<0d")
@example("created:9999-12-31")
@example("ſcope:user ıs:hidden")
def test_any_text_is_a_question(text: str) -> None:
    question = parse_question(text)
    for note in (
        TOKEN,
        make_fact_note(9, text or "k", text),
        replace(TOKEN, title=text, subject=text, updated_at=text),
    ):
        question.admits(note, Asked(NOW))
    assert all(clause.text for clause in question.clauses)
    assert question.empty == (not question.words and not question.narrow)


@given(TYPED)
def test_nothing_that_is_typed_is_lost(text: str) -> None:
    question = parse_question(text)
    asked = [f"{one.field} {one.values}" for one in question.conditions]
    said = " ".join((question.words, *question.excluded, *asked, *(one.text for one in question.clauses)))
    assert set(re.findall(r"\w+", text.casefold())) <= set(re.findall(r"\w+", said.casefold()))


@given(st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,3}", fullmatch=True))
def test_a_phrase_of_a_note_admits_it_and_its_exclusion_does_not(phrase: str) -> None:
    note = make_note(1, title="About", content=f"First, {phrase}; then more.")
    assert admits(f'+"{phrase}"', note)
    assert not admits(f'-"{phrase}"', note)


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_questions(text: str) -> None:
    for typed in (text, f'"{text}"', f"-{text}", f"tag:{text}", f'title:"{text}"', f"updated:{text}"):
        parse_question(typed).admits(TOKEN, Asked(NOW))
        parse_question(typed).admits(make_note(1, title=text, content=text), Asked(NOW))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ['"', '"a ', "“ a", "tag:a ", 'tag:"', "-", "-a ", '-"a" ', "a:", "scope:user,", "is:x ", 'title:"a" '],
)
def test_a_hundred_thousand_characters_take_no_minutes(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    parse_question(text).admits(make_note(1, content=text), Asked(NOW))
    # A quadratic reading takes hundreds of seconds.
    assert time.process_time() - started < 20
    parse_question(" ".join(f"nugget:{number}" for number in range(8_000)))


@pytest.mark.parametrize("unit", ["1 ", "-a ", "not ", '"a b" ', "tag:a "])
def test_of_a_text_that_is_no_question_any_more_the_beginning_counts(unit: str) -> None:
    text = unit * 500_000
    assert parse_question(text) == parse_question(text[:LONGEST_QUERY])
    assert len(plain_question(text).words) <= LONGEST_QUERY
