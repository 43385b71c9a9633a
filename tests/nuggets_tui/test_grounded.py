"""A memory held against the code of its project: what recall, briefing and promotion say of what is no more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.replayed import git

from core import verbs
from core.briefing import PROJECT
from core.grounding.service import page_lines, text_of
from core.memory import Memory
from core.model.infer import MetaInput
from core.projects import project_of
from core.workspace import briefing_of
from nuggets_tui.screens.why import recall_lines
from nuggets_tui.words import STALE_SIGN

CODE = "".join(f"export const value{number} = read('{number}', request);\n" for number in range(60))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scanner"
    (folder / "src" / "auth").mkdir(parents=True)
    (folder / "src" / "auth" / "middleware.ts").write_text(CODE)
    (folder / "src" / "other.ts").write_text("export const other = 'nothing of the others';\n")
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    commit(folder)
    monkeypatch.chdir(folder)
    # However slow the machine is.
    monkeypatch.setattr("core.grounding.SECONDS_OF_AN_ANSWER", 60.0)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")


def opened(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "memory")
    memory.use_project(project_of(os.getcwd()))
    return memory


def remembered(tmp_path: Path) -> Memory:
    memory = opened(tmp_path)
    verbs.remember(memory, "", "auth handler", "src/auth/middleware.ts:47")
    return memory


def test_an_answer_says_where_its_file_moved_and_is_still_claimed(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    assert memory.recall("auth handler").stale == ()
    git(root, "mv", "src/auth/middleware.ts", "src/session.ts")
    commit(root)
    found = opened(tmp_path).recall("auth handler")
    assert found.found
    assert [(one.state, one.where) for one in found.stale] == [("moved", "src/session.ts:47")]


def test_an_answer_whose_file_is_gone_is_offered_and_not_claimed(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    (root / "src" / "auth" / "middleware.ts").unlink()
    commit(root)
    found = memory.recall("auth handler")
    assert (found.found, found.judgement) == (False, "not sure")
    (offered,) = found.candidates
    assert [(one.said, one.state) for one in offered.stale] == [("src/auth/middleware.ts:47", "gone")]
    assert offered.stale[0].commit == git(root, "rev-parse", "HEAD").strip()


def test_what_the_app_shows_of_an_answer_says_what_became_of_its_code(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    git(root, "mv", "src/auth/middleware.ts", "src/session.ts")
    shown = [line.plain for line in recall_lines(memory.recall("auth handler"), 90)]
    assert [line for line in shown if "src/session.ts:47" in line]
    (root / "src" / "session.ts").unlink()
    commit(root)
    shown = [line.plain for line in recall_lines(memory.recall("auth handler"), 90)]
    assert [line.startswith(STALE_SIGN) for line in shown if "src/auth" in line] == [False, True]


def test_a_note_written_by_another_program_is_held_against_the_code_of_its_time(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = remembered(tmp_path)
    written = int(git(root, "log", "-1", "--format=%ct"))
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{written + 60} +0000")
    note = memory.snapshot.fact_notes["scanner", "auth handler"]
    (root / "src" / "auth" / "middleware.ts").unlink()
    commit(root)
    late = text_of(note)._replace(id="never seen", written=written)
    assert [one.state for one in memory.grounding.standings([late])["never seen"]] == ["gone"]


def test_a_note_that_is_edited_is_bound_anew_for_what_is_new_in_it(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    (root / "src" / "auth" / "middleware.ts").unlink()
    commit(root)
    note = memory.snapshot.fact_notes["scanner", "auth handler"]
    verbs.edit_note(
        memory, note.id, content="src/auth/middleware.ts:47, see src/other.ts", title=None, add_tags=(), remove_tags=(),
        meta=MetaInput(),
    )  # fmt: skip
    states = memory.grounding.standings([text_of(memory.snapshot.by_id[note.id])])[note.id]
    assert [(one.name, one.state) for one in states] == [
        ("src/auth/middleware.ts", "gone"), ("src/other.ts", "fresh"),
    ]  # fmt: skip


def test_a_change_of_tags_binds_nothing_anew(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = remembered(tmp_path)
    note = text_of(memory.snapshot.fact_notes["scanner", "auth handler"])
    made = int(git(root, "log", "-1", "--format=%ct"))
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{made + 60} +0000")
    (root / "src" / "auth" / "middleware.ts").unlink()
    commit(root)
    # The second one is of another machine, and its tags were changed before it was read here.
    for one in (note, note._replace(id="new here", created=made)):
        tagged = one._replace(written=made + 120)
        assert [standing.state for standing in memory.grounding.standings([tagged])[one.id]] == ["gone"]


def test_a_line_is_bound_as_its_writer_sees_it(tmp_path: Path, root: Path) -> None:
    code = root / "src" / "auth" / "middleware.ts"
    code.write_text("// new on top, and in no commit yet\n" * 3 + code.read_text())
    memory = remembered(tmp_path)
    assert memory.recall("auth handler").stale == ()
    commit(root)
    assert memory.recall("auth handler").stale == ()
    code.write_text("\n" + code.read_text())
    assert [one.where for one in memory.recall("auth handler").stale] == ["src/auth/middleware.ts:48"]


def test_a_text_that_comes_back_is_bound_as_it_was(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    git(root, "mv", "src/auth/middleware.ts", "src/session.ts")
    commit(root)
    note = memory.snapshot.fact_notes["scanner", "auth handler"]
    before = memory.grounding.standings([text_of(note)])[note.id]
    changed = memory.stale_of([note])[note.id].repointed(note.content)
    verbs.edit_note(
        memory, note.id, content=changed, title=None, add_tags=(), remove_tags=(), meta=MetaInput()
    )
    assert memory.stale_of([memory.snapshot.by_id[note.id]]) == {}
    memory.history.undo()
    again = memory.snapshot.by_id[note.id]
    assert memory.grounding.standings([text_of(again)])[note.id] == before


def test_another_projects_notes_are_held_against_their_own_folder(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    note = memory.snapshot.fact_notes["scanner", "auth handler"]
    (root / "src" / "auth" / "middleware.ts").unlink()
    memory.use_project(None)
    assert [one.state for one in memory.stale_of([note])[note.id].references] == ["gone"]
    root.rename(tmp_path / "away")
    assert memory.stale_of([note]) == {}


def test_a_briefing_marks_what_is_gone_and_promotion_leaves_it_out(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    verbs.remember(memory, "", "other", "src/other.ts")
    for key in ("auth handler", "other"):
        for session in ("a", "b", "c"):
            memory.recall(key, session=session)
    (root / "src" / "auth" / "middleware.ts").unlink()
    commit(root)
    marks = {
        one.line.partition(":")[0]: one.mark for one in briefing_of(memory).notes if one.section == PROJECT
    }
    assert [bool(marks[key]) for key in ("auth handler", "other")] == [True, False]
    folder = tmp_path / "page"
    result = memory.promotion.promote(memory_dir=folder)
    assert [entry.note_id for entry in result.entries] == [memory.snapshot.fact_notes["scanner", "other"].id]


def test_a_bullet_about_code_that_is_gone_is_taken_out_where_somebody_looks(
    tmp_path: Path, root: Path
) -> None:
    memory = remembered(tmp_path)
    for session in ("a", "b", "c"):
        memory.recall("auth handler", session=session)
    folder = tmp_path / "page"
    assert [one.status for one in memory.promotion.promote(memory_dir=folder).entries] == ["new"]
    (root / "src" / "auth" / "middleware.ts").unlink()
    commit(root)
    unseen = memory.promotion.promote(memory_dir=folder, unattended=True, dry_run=True)
    assert [one.status for one in unseen.entries] == ["unchanged"]
    assert [one.status for one in memory.promotion.promote(memory_dir=folder).entries] == ["removed"]


def test_lines_of_a_page_that_lead_nowhere_are_told(root: Path) -> None:
    page = root / "AGENTS.md"
    page.write_text("# How\n\nSee src/auth/middleware.ts and src/other.ts.\nNever was: src/never.ts\n")
    commit(root)
    (root / "src" / "auth" / "middleware.ts").unlink()
    page.write_text(page.read_text() + "The former src/auth/middleware.ts was removed.\n")
    commit(root)
    assert [(line, one.name, one.state) for line, one in page_lines(page)] == [
        (3, "src/auth/middleware.ts", "gone")
    ]


def test_the_cleanup_proposes_the_new_place_and_hides_nothing_by_itself(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    verbs.remember(memory, "", "other", "src/other.ts")
    git(root, "mv", "src/auth/middleware.ts", "src/session.ts")
    (root / "src" / "other.ts").unlink()
    commit(root)
    assert not {"repoint", "hide"} & {
        one.type for one in memory.reflect(dry_run=True, unattended=True).changes
    }
    changes = {one.type: one for one in memory.reflect(dry_run=True).changes}
    assert changes["repoint"].doubtful
    assert changes["hide"].doubtful
    done = memory.reflect(accept=[changes["repoint"].id])
    nugget = memory.snapshot.by_name["scanner"]
    assert nugget.find("auth handler")[1].value == "src/session.ts:47"
    assert memory.recall("auth handler").stale == ()
    memory.history.undo(done.change_set)
    assert memory.snapshot.by_name["scanner"].find("auth handler")[1].value == "src/auth/middleware.ts:47"


def test_a_search_lists_what_is_stale(tmp_path: Path, root: Path) -> None:
    memory = remembered(tmp_path)
    verbs.remember(memory, "", "other", "src/other.ts")
    (root / "src" / "other.ts").unlink()
    commit(root)
    assert [hit.note.title for hit in memory.search("is:stale")] == ["other"]
    assert [hit.note.title for hit in memory.search("-is:stale")] == ["auth handler"]


def test_a_page_is_read_without_running_what_its_repository_names(root: Path, tmp_path: Path) -> None:
    (root / ".gitattributes").write_text("*.md filter=evil diff=evil\n")
    (root / "AGENTS.md").write_text("See src/other.ts.\n")
    commit(root)
    for name in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv"):
        git(root, "config", name, f"touch {tmp_path / 'ran'}; cat")
    (root / "src" / "other.ts").unlink()
    assert [(line, one.state) for line, one in page_lines(root / "AGENTS.md")] == [(1, "gone")]
    assert not (tmp_path / "ran").exists()
