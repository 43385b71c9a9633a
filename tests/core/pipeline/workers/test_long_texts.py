"""A long text is read whole: window by window, each once, with what was not read said where one looks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from kits.pipeline_rows import job_result
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import (
    NO_MAINTENANCE,
    Clock,
    Opened,
    configure,
    drain,
    note_texts,
    only_job,
    open_pipeline,
)
from kits.writes_kit import found

from core.pipeline.models.provider import (
    ModelHttpError,
    ModelTimeoutError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from core.pipeline.service import Pipeline
from core.pipeline.writes.following import drift

ROOT = Path(__file__).parents[4]
SMALL = "[pipeline.extraction]\nwindow_chars = 2000\nwindow_overlap_chars = 200"
PLACES = ("Oslo", "Lima", "Rome", "Bonn", "Kiel", "Graz", "Bern", "Nice", "York", "Bath")


def filler(number: int) -> str:
    return f"2026-11-18 12:{number % 60:02d} INFO worker handled request {number} in {number * 7 % 90} ms\n"


def server(number: int) -> str:
    return f"Server {number} named {PLACES[number % 10]}{number} stands in rack {number * 7 + 3}."


def log(lines: int, every: int = 40) -> str:
    """A log with a statement every so many lines, the last line among them."""
    return "".join(
        server(number // every) + "\n" if number % every == every - 1 else filler(number)
        for number in range(lines)
    )


def text_of(prompt: str) -> str:
    return str(json.loads(prompt.rpartition("Text: ")[2].splitlines()[0]))


def reader(most: int = 1_000) -> ScriptedModel:
    """Takes each statement about a server for a fact, and holds every fact for new."""

    def answer(prompt: str) -> Line:
        if '"decisions"' in prompt:
            labels = [line.partition(":")[0] for line in prompt.splitlines() if line.startswith("F")]
            return {
                "decisions": [
                    {"fact": one, "action": "add", "confidence": 0.9, "reason": "n"} for one in labels
                ]
            }
        if '{"action"' in prompt:
            return {"action": "add", "targetId": None, "confidence": 0.9, "reason": "new"}
        said = [part.split(".")[0] for part in text_of(prompt).split("Server ")[1:]]
        return found(*(f"Server {one}." for one in said[:most] if "rack" in one))

    return ScriptedModel(by_prompt=answer)


def windows_sent(model: ScriptedModel) -> list[str]:
    return [text_of(prompt) for prompt in model.prompts if "Take what is worth" in prompt]


@pytest.mark.slow
def test_every_fact_of_a_long_text_becomes_a_note_once(opened: Opened) -> None:
    text, model = log(240), reader()
    pipeline = opened(model, SMALL)
    raw_id = pipeline.ingest(text).raw_id
    drain(pipeline)
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(6))
    job = only_job(pipeline)
    assert (job.status, job.unread, job.windows_read) == ("completed", 0, job.windows)
    assert job.windows == len(windows_sent(model)) > 7
    assert pipeline.raw(raw_id).status == "extracted"
    for note in pipeline.memory.snapshot.notes:
        origin = pipeline.origin(note.id)
        assert origin is not None
        assert origin.span is not None
        assert text[slice(*origin.span)] == note.content


@pytest.mark.slow
def test_windows_overlap_and_what_both_say_is_one_fact(opened: Opened) -> None:
    model = reader()
    pipeline = opened(model, SMALL)
    pipeline.ingest("".join(server(number) + "\n" for number in range(90)))
    drain(pipeline)
    sent = windows_sent(model)
    assert any(one.split()[-1] in other for one, other in pairwise(sent))
    result = job_result(pipeline.database.reading, only_job(pipeline).id)
    assert result["repeated"] > 0
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(90))
    assert len(pipeline.proposals(all=True)) == 90


@pytest.mark.slow
def test_what_a_later_part_says_again_is_decided_anew_and_not_left_out(opened: Opened) -> None:
    asked: list[str] = []
    plain = reader()

    def answer(prompt: str) -> Line:
        asked.append(prompt)
        assert plain.by_prompt is not None
        return plain.by_prompt(prompt)

    pipeline = opened(ScriptedModel(by_prompt=answer), SMALL)
    gap = "".join(map(filler, range(60)))
    pipeline.ingest(f"{server(1)}\n{gap}{server(2)}\n{gap}{server(1)}\n")
    drain(pipeline)
    result = job_result(pipeline.database.reading, only_job(pipeline).id)
    assert (result["facts"], result["repeated"]) == (3, 0)
    assert sorted(note_texts(pipeline)) == [server(1), server(2)]


@pytest.mark.slow
def test_in_shadow_mode_what_two_windows_say_is_one_proposal(opened: Opened) -> None:
    pipeline = opened(reader(), "shadow_mode = true\n" + SMALL)
    pipeline.ingest("".join(server(number) + "\n" for number in range(60)))
    drain(pipeline)
    assert sorted(one.content for one in pipeline.proposals()) == sorted(
        server(number) for number in range(60)
    )


def test_a_text_that_fits_is_one_window_and_its_result_is_as_before(opened: Opened) -> None:
    pipeline = opened(reader(), SMALL)
    pipeline.ingest(server(1))
    drain(pipeline)
    result = job_result(pipeline.database.reading, only_job(pipeline).id)
    assert (result["windows"], result["windowsRead"], result["unread"]) == (1, 1, 0)
    assert "progress" not in result


@pytest.mark.slow
def test_the_progress_of_a_running_job_can_be_seen(opened: Opened) -> None:
    pipeline = opened(reader(), SMALL)
    pipeline.ingest(log(200))
    seen = []
    while (ticked := pipeline.tick()).job is not None and ticked.job.status == "pending":
        seen.append((ticked.job.windows_read, ticked.job.unread))
    assert [read for read, _ in seen] == list(range(1, len(seen) + 1))
    assert all(one > other for (_, one), (_, other) in pairwise(seen))
    assert {job.windows for job in pipeline.jobs()} == {len(seen) + 1}


@pytest.mark.slow
def test_after_a_crash_it_goes_on_with_the_next_window(tmp_path: Path) -> None:
    configure(tmp_path, SMALL)
    text, first, second, clock = log(240), reader(), reader(), Clock()
    with open_pipeline(tmp_path, first, clock) as pipeline:
        pipeline.ingest(text)
        for _ in range(3):
            pipeline.tick()
    with open_pipeline(tmp_path, second, clock) as pipeline:
        drain(pipeline)
        assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(6))
        assert only_job(pipeline).windows == len(windows_sent(first)) + len(windows_sent(second))
    assert not set(windows_sent(first)) & set(windows_sent(second))


# Reads a long text, and ends as kill -9 would right before each step that reaches the disk, in a copy for each.
KILLED = """
import os, shutil, sys, traceback
from pathlib import Path
sys.path[:0] = ["tests", "tests/core/pipeline/workers"]
from kits.faults import end_before_step
from kits.service_kit import Clock, open_pipeline
from test_long_texts import reader
from core.pipeline.database.connection import Database

home, stride = Path(sys.argv[1]), int(sys.argv[2])
for number in range(0, 10_000, stride):
    copy = home.with_name(f"copy-{number}")
    shutil.copytree(home, copy)
    child = os.fork()
    if child == 0:
        try:
            pipeline = open_pipeline(copy, reader(), Clock())
            end_before_step(number, (Database, "write"))
            while pipeline.tick().did_something:
                pass
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(number, code, flush=True)
    if code != 9:
        break
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_killed_before_any_step_it_is_read_whole_and_each_fact_is_one_note(tmp_path: Path) -> None:
    home = configure(tmp_path / "home", SMALL)
    with open_pipeline(home, reader(), Clock()) as pipeline:
        pipeline.ingest(log(120))
    stride = 1 if os.environ.get("NUGGETS_KILLS") else 17
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(home), str(stride)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    ended = [line.split() for line in done.stdout.splitlines()]
    assert ended[-1][1] == "0", done.stderr
    assert len(ended) > 3
    for number, _ in ended:
        later = Clock()
        later.forward(hours=1)
        with open_pipeline(tmp_path / f"copy-{number}", reader(), later) as pipeline:
            drain(pipeline)
            assert sorted(note_texts(pipeline)) == sorted(server(each) for each in range(3)), number
            assert {job.status for job in pipeline.jobs() if job.type == "extract"} == {"completed"}
            assert drift(pipeline.memory) == ()


@pytest.mark.slow
def test_a_short_text_does_not_wait_for_a_long_one(opened: Opened, clock: Clock) -> None:
    pipeline = opened(reader(), SMALL)
    pipeline.ingest(log(400))
    clock.forward(seconds=1)
    pipeline.ingest("Server 999 named Ulm stands in rack 5.")
    for _ in range(3):
        clock.forward(seconds=3)
        pipeline.tick()
    assert "Server 999 named Ulm stands in rack 5." in note_texts(pipeline)
    assert len(pipeline.jobs("pending")) == 1


@pytest.mark.slow
def test_a_window_that_says_more_than_an_answer_holds_is_read_in_halves(opened: Opened) -> None:
    model = reader(most=20)
    pipeline = opened(model)
    pipeline.ingest("".join(server(number) + "\n" for number in range(120)))
    drain(pipeline)
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(120))


@pytest.mark.slow
def test_a_window_whose_answer_is_cut_off_is_read_in_halves(opened: Opened) -> None:
    plain = reader()

    def answer(prompt: str) -> Line:
        if "Take what is worth" in prompt and len(text_of(prompt)) > 4_000:
            return TruncatedAnswerError("no room")
        assert plain.by_prompt is not None
        return plain.by_prompt(prompt)

    pipeline = opened(ScriptedModel(by_prompt=answer))
    pipeline.ingest(log(240))
    drain(pipeline)
    assert (only_job(pipeline).status, len(note_texts(pipeline))) == ("completed", 6)


@pytest.mark.slow
def test_what_the_limit_left_out_is_said_and_read_on_when_a_person_asks(opened: Opened) -> None:
    pipeline = opened(reader(), SMALL + "\nmax_windows = 3")
    pipeline.ingest(log(240))
    drain(pipeline)
    job = only_job(pipeline)
    assert (job.status, job.windows_read) == ("completed", 3)
    assert job.unread > 8_000
    assert f"{job.unread:,}" in job.error
    status = pipeline.status()
    assert status.unread == 1
    assert "1 text was not read whole" in status.why
    while only_job(pipeline).unread:
        pipeline.retry(job.id)
        drain(pipeline)
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(6))
    assert (only_job(pipeline).error, pipeline.status().unread) == ("", 0)


@pytest.mark.slow
def test_a_window_that_cannot_be_read_keeps_no_other_from_being_read(opened: Opened, clock: Clock) -> None:
    plain, broken = reader(), [True]

    def answer(prompt: str) -> Line:
        if broken[0] and "Take what is worth" in prompt and server(2) in text_of(prompt):
            return UnreadableAnswerError("no JSON")
        assert plain.by_prompt is not None
        return plain.by_prompt(prompt)

    pipeline = opened(ScriptedModel(by_prompt=answer), f"{NO_MAINTENANCE}\n{SMALL}")
    raw_id = pipeline.ingest(log(240)).raw_id
    for _ in range(8):
        drain(pipeline)
        clock.forward(minutes=5)
    job = only_job(pipeline)
    assert (job.status, job.error_class, pipeline.raw(raw_id).status) == ("dead", "parse", "failed")
    assert "could not be read" in job.error
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in (0, 1, 3, 4, 5))
    broken[0] = False
    pipeline.retry(job.id)
    drain(pipeline)
    assert only_job(pipeline).status == "completed"
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(6))


@pytest.mark.slow
@pytest.mark.parametrize("error", [ModelHttpError("closed"), ModelTimeoutError("late")])
def test_a_failure_in_the_midst_goes_on_where_it_was(
    opened: Opened, clock: Clock, error: ModelHttpError
) -> None:
    plain, calls = reader(), [0]

    def answer(prompt: str) -> Line:
        calls[0] += 1
        if calls[0] % 3 == 2:
            return error
        assert plain.by_prompt is not None
        return plain.by_prompt(prompt)

    model = ScriptedModel(by_prompt=answer)
    pipeline = opened(model, SMALL)
    pipeline.ingest(log(240))
    for _ in range(40):
        drain(pipeline)
        clock.forward(minutes=10)
    assert only_job(pipeline).status == "completed"
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(6))


def test_a_credential_that_lies_over_the_edge_of_a_window_is_sent_in_no_part(opened: Opened) -> None:
    model = reader()
    pipeline = opened(model, SMALL)
    key = "\n".join(f"{'MIIEpAIBAAKCAQEA7bq' * 3}{number:03d}" for number in range(30))
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY-----\n"
    pipeline.ingest("".join(map(filler, range(24))) + pem + "".join(map(filler, range(60))))
    drain(pipeline)
    assert len(windows_sent(model)) > 3
    assert not [one for one in windows_sent(model) if "MIIEpAIBAAKCAQEA" in one]


@pytest.mark.slow
def test_a_text_that_was_masked_between_two_windows_is_read_whole(opened: Opened) -> None:
    pipeline = opened(reader(), SMALL)
    raw_id = pipeline.ingest(log(240)).raw_id
    pipeline.tick()
    with pipeline.database.write() as writer:
        writer.connection.execute(
            "UPDATE raw_memories SET content = replace(content, 'INFO worker', '***') WHERE id = ?", (raw_id,)
        )
    drain(pipeline)
    assert sorted(note_texts(pipeline)) == sorted(server(number) for number in range(6))


@pytest.mark.slow
def test_relations_of_all_windows_are_kept(opened: Opened) -> None:
    plain = reader()

    def answer(prompt: str) -> Line:
        assert plain.by_prompt is not None
        said = plain.by_prompt(prompt)
        if isinstance(said, dict) and "facts" in said:
            names = [f"{one['content'].split()[3]}" for one in said["facts"]]  # type: ignore[attr-defined]
            said["entities"] = [
                {"source": name, "relationship": "part_of", "target": "Datacenter", "confidence": 0.9}
                for name in names
            ]
        return said

    pipeline = opened(ScriptedModel(by_prompt=answer), SMALL)
    pipeline.ingest(log(240))
    drain(pipeline)
    (centre,) = [one for one in pipeline.entities("Datacenter") if one.name == "Datacenter"]
    assert {one.other for one in pipeline.entity(centre.id).relations} == {
        f"{PLACES[n]}{n}" for n in range(6)
    }


@pytest.mark.slow
def test_a_paused_pipeline_stops_between_two_windows(opened: Opened) -> None:
    pipeline = opened(reader(), SMALL)
    pipeline.ingest(log(200))
    pipeline.tick()
    assert pipeline.pause(0.0) == ()
    before = only_job(pipeline)
    pipeline.tick()
    assert only_job(pipeline) == before
    pipeline.resume()
    drain(pipeline)
    assert only_job(pipeline).status == "completed"


@pytest.mark.slow
def test_long_texts_need_no_more_of_the_database_than_is_there(tmp_path: Path) -> None:
    with Pipeline.open(tmp_path, provider=reader(), clock=Clock()) as pipeline:
        pipeline.ingest(" \n" * 20_000 + server(1) + "\n" * 20_000)
        drain(pipeline)
        assert note_texts(pipeline) == [server(1)]
