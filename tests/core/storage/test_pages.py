"""A folder of Claude Code's pages, opened in place: shown, changed and undone as a memory of ours is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.claude_pages import PAGES, listed, note_of, tree, write_folder

from core import Memory
from core.daily import run_daily_pass
from core.errors import ConflictError, InvalidInputError, StorageError, UnfinishedError
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note, hide_note, unhide_note
from core.model.change import ChangeSet
from core.pipeline.service import Pipeline
from core.places import folder_of, home_of
from core.storage import writing
from core.storage.files.atomic import Fingerprint, Staged
from core.storage.files.exchange import Replaced
from core.verify import findings
from core.workspace import Workspace

LAWS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


def _differs(folder: Path, before: dict[str, bytes]) -> set[str]:
    now = tree(folder)
    return {name for name in {*now, *before} if now.get(name) != before.get(name)}


# Opening


def test_each_page_is_a_note_and_the_index_is_one_where_it_has_words_of_its_own(folder: Path) -> None:
    memory = Memory.open(folder)
    titles = {note.page.file: note.title for note in memory.snapshot.notes if note.page}
    assert titles == {
        "MEMORY.md": "Memory Index",
        "billing.md": "Where billing lives",
        "debugging.md": "Debugging notes",
        "deploy-needs-vpn.md": "deploy-needs-vpn",
        "feedback_pnpm.md": "prefers-pnpm",
        "notes/untitled.md": "untitled",
    }
    assert memory.snapshot.problems == ()
    assert findings(memory.snapshot) == []
    index = note_of(memory, "MEMORY.md").content
    assert "Ask before you push." in index
    assert "Prefers pnpm" not in index


@pytest.mark.parametrize("reconcile", [True, False, None])
def test_opening_and_reading_change_no_byte_and_leave_no_file_in_the_folder(
    folder: Path, reconcile: bool | None
) -> None:
    before = tree(folder)
    memory = Memory.open(folder, reconcile=reconcile)
    memory.search("pnpm")
    memory.recall("vpn")
    memory.recall("which package manager", session="s1")
    memory.close()
    assert tree(folder) == before
    assert sorted(path.name for path in folder.parent.iterdir()) == ["memory"]


def test_what_is_kept_of_it_lies_outside_and_leads_back_to_it(folder: Path) -> None:
    memory = Memory.open(folder)
    memory.change("edit", lambda draft: edit_note(draft, note_of(memory, "debugging.md").id, content="New."))
    home = memory.home
    assert home == home_of(folder)
    assert folder_of(home) == memory.folder == folder
    assert not home.is_relative_to(folder)
    assert (home / "nuggets.db").exists()
    assert [n.title for n in Memory.open(home).snapshot.notes] == [n.title for n in memory.snapshot.notes]


def test_without_a_place_outside_the_folder_is_not_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETS_STATE", "off")
    with pytest.raises(StorageError):
        Memory.open(folder)
    monkeypatch.setenv("NUGGETS_STATE", str(folder))
    with pytest.raises(StorageError):
        Memory.open(folder)


def test_a_memory_of_ours_with_a_page_called_as_the_index_stays_one(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    memory.change("note", lambda draft: create_note(draft, "app", "Title", "Text"))
    (tmp_path / "MEMORY.md").write_text("# mine\n")
    assert Memory.open(tmp_path).pages is None


def test_pages_whose_index_another_program_takes_away_stay_pages_with_their_history(tmp_path: Path) -> None:
    folder = tmp_path / "anywhere"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- [A](a.md)\n")
    (folder / "a.md").write_text("text\n")
    memory = Memory.open(folder)
    memory.change("edit", lambda draft: edit_note(draft, note_of(memory, "a.md").id, content="ours"))
    (folder / "MEMORY.md").unlink()
    again = Memory.open(folder)
    assert again.pages == folder
    assert home_of(folder) == memory.home
    again.history.undo(memory.history.log()[0].change_set)
    assert tree(folder) == {"a.md": b"text\n"}


# Changing


def test_a_title_changes_in_the_page_and_in_the_index_and_links_still_lead_there(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    note = note_of(memory, "deploy-needs-vpn.md")
    memory.change("title", lambda draft: edit_note(draft, note.id, title="Deploy: with the VPN"))
    now = tree(folder)
    assert _differs(folder, before) == {"deploy-needs-vpn.md", "MEMORY.md"}
    assert b'name: deploy-needs-vpn\r\ntitle: "Deploy: with the VPN"\r\n' in now["deploy-needs-vpn.md"]
    assert "- [Deploy: with the VPN](deploy-needs-vpn.md) — staging only\n" in now["MEMORY.md"].decode()
    assert note_of(memory, "feedback_pnpm.md").id in [
        link.to for link in note_of(memory, "deploy-needs-vpn.md").links
    ]
    memory.history.undo()
    assert tree(folder) == before
    memory.history.redo()
    assert tree(folder) == now


def test_a_hidden_page_leaves_the_folder_and_comes_back_with_its_bytes_and_its_line_last(
    folder: Path,
) -> None:
    before, whole, memory = tree(folder), listed(folder), Memory.open(folder)
    note = note_of(memory, "feedback_pnpm.md")
    memory.change("hide", lambda draft: hide_note(draft, note.id))
    assert _differs(folder, before) == {"feedback_pnpm.md", "MEMORY.md"}
    assert "feedback_pnpm.md" not in tree(folder)
    assert "pnpm" not in tree(folder)["MEMORY.md"].decode()
    assert Memory.open(folder).snapshot.by_id[note.id].hidden
    memory.change("show", lambda draft: unhide_note(draft, note.id))
    assert listed(folder) == whole
    index = (folder / "MEMORY.md").read_text()
    assert (
        index.index("(billing.md)")
        < index.index("- [Prefers pnpm](feedback_pnpm.md) — never npm")
        < index.index("##")
    )


def test_a_new_note_is_a_page_with_a_name_of_its_own_and_a_line_in_the_index(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    for _ in range(2):
        memory.change(
            "new", lambda draft: create_note(draft, "claude", "../Billing: # [x] CON", "First.\n\nSecond.")
        )
    made = _differs(folder, before) - {"MEMORY.md"}
    assert made == {"billing-x-con.md", "billing-x-con-2.md"}
    assert tree(folder)["MEMORY.md"].decode().count("(billing-x-con") == 2
    reopened = Memory.open(folder)
    note = note_of(reopened, "billing-x-con.md")
    assert (note.title, note.content) == ("../Billing: # [x] CON", "First.\n\nSecond.")
    memory.history.undo()
    memory.history.undo()
    assert tree(folder) == before


def test_facts_are_refused_in_one_sentence_and_nothing_is_written(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    with pytest.raises(InvalidInputError, match="no place for facts"):
        memory.change("fact", lambda draft: remember(draft, "claude", "key", "value"))
    assert tree(folder) == before
    assert memory.history.log() == () or not memory.history.log()


def test_nothing_is_promoted_from_pages_and_no_text_goes_to_the_pipeline(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    with pytest.raises(InvalidInputError, match="nothing is promoted"):
        memory.promotion.promote(cwd=folder.parent)
    assert memory.promotion.targets() == ()
    with pytest.raises(InvalidInputError, match="no place for facts"):
        Pipeline.open(memory.home)
    run_daily_pass(memory, if_due=False)
    changed = _differs(folder, before)
    memory.history.undo()
    assert changed == set() or tree(folder) == before


def test_a_credential_is_masked_in_the_pages_too(folder: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for name in ("debugging.md", "MEMORY.md"):
        (folder / name).write_text((folder / name).read_text() + f"\nToken: {secret}\n")
    os.chmod(folder / "debugging.md", 0o640)
    memory = Memory.open(folder)
    id = note_of(memory, "debugging.md").id
    memory.change("edit", lambda draft: edit_note(draft, id, add_tags=["mine"]))
    Workspace(memory).mask_secrets(Workspace(memory).masking())
    for path in (*folder.rglob("*"), *memory.home.rglob("*")):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    assert (folder / "debugging.md").stat().st_mode & 0o777 == 0o640
    assert memory.history.log()[0].change_set.kind == "mask"
    assert Memory.open(folder).history.log()[0].change_set.kind == "mask"


@pytest.mark.parametrize(
    "index",
    [
        None,
        "- [A](a.md)",
        "- [B](b.md)\r\n- [A](a.md)\r\n",
        "# One\n\n- [B](b.md)\n\n# Two\n\n- [A](a.md)\n\n",
        "# I\r\n- [A](a.md)\r\n- [A again](a.md)\r\nwords\r\n",
        "- [A](a.md)\n- [B](b.md)\n- [A](a.md)\n- [A](a.md)",
    ],
)
def test_undo_gives_back_the_lines_of_the_index_however_it_names_a_page(
    tmp_path: Path, index: str | None
) -> None:
    pages = {"a.md": "x\n", "b.md": "y\n"}
    folder = write_folder(tmp_path, pages | ({} if index is None else {"MEMORY.md": index}))
    before, memory = listed(folder), Memory.open(folder)
    memory.change("hide", lambda draft: hide_note(draft, note_of(memory, "a.md").id))
    assert "a.md" not in tree(folder).get("MEMORY.md", b"").decode()
    memory.history.undo()
    assert listed(folder) == before
    before = tree(folder)
    memory.change("new", lambda draft: create_note(draft, "claude", "New", "Text."))
    memory.change("new", lambda draft: create_note(draft, "claude", "Newer", "Text."))
    memory.history.undo()
    memory.history.undo()
    assert tree(folder) == before


# Other programs


def test_what_claude_writes_is_logged_and_can_be_undone(folder: Path) -> None:
    memory = Memory.open(folder)
    memory.change("edit", lambda draft: edit_note(draft, note_of(memory, "debugging.md").id, content="Ours."))
    before = tree(folder)
    page = folder / "feedback_pnpm.md"
    page.write_bytes(page.read_bytes().replace(b"Use pnpm.", b"Use pnpm 9."))
    (folder / "new.md").write_text("---\nname: new\n---\n\nSee [[prefers-pnpm]].\n")
    memory.refresh()
    assert "Use pnpm 9." in note_of(memory, "feedback_pnpm.md").content
    assert note_of(memory, "feedback_pnpm.md").id in [link.to for link in note_of(memory, "new.md").links]
    entry = memory.history.log()[0].change_set
    assert (entry.kind, len({change.id for change in entry.notes})) == ("outside", 2)
    memory.history.undo(entry)
    assert tree(folder) == before


def test_a_page_that_was_deleted_is_kept_hidden_and_undo_brings_back_its_bytes(folder: Path) -> None:
    memory = Memory.open(folder)
    id, data = note_of(memory, "deploy-needs-vpn.md").id, (folder / "deploy-needs-vpn.md").read_bytes()
    (folder / "deploy-needs-vpn.md").unlink()
    memory.refresh()
    assert memory.snapshot.by_id[id].hidden
    assert Memory.open(folder, reconcile=False).snapshot.by_id[id].hidden
    memory.history.undo(memory.history.log()[0].change_set)
    assert (folder / "deploy-needs-vpn.md").read_bytes() == data


def test_two_paragraphs_that_two_change_go_together_and_one_paragraph_is_a_conflict(folder: Path) -> None:
    page = folder / "a.md"
    page.write_text("---\nname: a\n---\n\nfirst\n\nbetween\n\nlast\n")
    memory = Memory.open(folder)
    note = note_of(memory, "a.md")

    def planned(old: str, new: str) -> ChangeSet:
        draft = memory.draft()
        edit_note(draft, note.id, content=note_of(memory, "a.md").content.replace(old, new))
        return draft.change_set("edit", author=memory.author)

    ours = planned("first", "our first")
    page.write_text(page.read_text().replace("last", "their last"))
    memory.apply(ours)
    assert page.read_text() == "---\nname: a\n---\n\nour first\n\nbetween\n\ntheir last\n"
    ours = planned("between", "ours")
    page.write_text(page.read_text().replace("between", "theirs"))
    with pytest.raises(ConflictError):
        memory.apply(ours)
    assert "theirs" in page.read_text()
    assert len(memory.history.conflicts()) == 1


@pytest.mark.slow
def test_a_page_saved_from_before_our_edit_of_seconds_ago_gets_that_edit_back(folder: Path) -> None:
    page = folder / "a.md"
    page.write_text("---\nname: a\n---\n\nfirst\n\nbetween\n\nlast\n")
    memory = Memory.open(folder)
    read = page.read_text()
    memory.change(
        "edit",
        lambda draft: edit_note(draft, note_of(memory, "a.md").id, content="our first\n\nbetween\n\nlast"),
    )
    page.write_text(read.replace("last", "their last"))
    while memory.refresh() or not memory.store.reconciled:
        pass
    assert page.read_text() == "---\nname: a\n---\n\nour first\n\nbetween\n\ntheir last\n"
    assert {"restore", "outside"} <= {entry.change_set.kind for entry in memory.history.log()}


@pytest.mark.parametrize(
    "front",
    ['name: "open', "\tname: x", "a: 1\na: 2", "Harbour Works\n12 Pier Road", "title: {{title}}\n{{x}}"],
)
def test_a_page_whose_front_matter_is_no_yaml_is_a_note_with_all_of_its_text(
    folder: Path, front: str
) -> None:
    page = f"---\n{front}\n---\n\nDear reader,  \nhello.\n"
    (folder / "letter.md").write_text(page)
    memory = Memory.open(folder)
    note = note_of(memory, "letter.md")
    assert note.content == page.strip()
    memory.change(
        "edit", lambda draft: edit_note(draft, note.id, content=note.content.replace("hello", "hi"))
    )
    assert (folder / "letter.md").read_text() == page.replace("hello", "hi")


def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("Outside of the folder.\n")
    (folder / "out.md").symlink_to(tmp_path / "outside.md")
    (folder / "again.md").symlink_to(folder / "debugging.md")
    memory = Memory.open(folder)
    assert [problem.place for problem in memory.snapshot.problems] == ["out.md"]
    assert not [note for note in memory.snapshot.notes if "Outside" in note.content]
    assert sum(note.page is not None and "again" in note.page.file for note in memory.snapshot.notes) == 0


WRAPPED = (
    "# Index\n\n- [A](a.md) — the deploy host is called\n  marlin and sits\nin rack 4.\n- My own bullet\n"
    "  over two lines\n\nWords between.\n\n- [B](b.md) — dropped every\n  Sunday.\n\nWords behind.\n"
)


def test_a_bullet_of_the_index_is_whole_however_many_lines_it_has(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {"a.md": "x\n", "b.md": "y\n", "MEMORY.md": WRAPPED})
    before, memory = tree(folder), Memory.open(folder)
    memory.change("new", lambda draft: create_note(draft, "claude", "Rack plan", "Rack 4 is full."))
    now = tree(folder)["MEMORY.md"].decode()
    assert "every\n  Sunday.\n- [Rack plan]" in now
    memory.history.undo()
    assert tree(folder) == before
    memory.change("hide", lambda draft: hide_note(draft, note_of(memory, "a.md").id))
    left = tree(folder)["MEMORY.md"].decode()
    assert left == WRAPPED.replace(WRAPPED[WRAPPED.index("- [A]") : WRAPPED.index("- My own")], "")
    memory.history.undo()
    assert listed(folder)["MEMORY.md"] == sorted(
        line for line in before["MEMORY.md"].splitlines() if line.strip()
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Words between.", "Other words between."),
        ("Words between.", ""),
        ("- My own bullet\n  over two lines", ""),
        ("Words behind.", "Words behind.\n\nAnd more."),
    ],
)
def test_own_words_of_the_index_keep_their_places_on_edit_and_on_undo(
    tmp_path: Path, old: str, new: str
) -> None:
    folder = write_folder(tmp_path, {"a.md": "x\n", "b.md": "y\n", "MEMORY.md": WRAPPED})
    before, memory = tree(folder), Memory.open(folder)
    note = note_of(memory, "MEMORY.md")
    memory.change("words", lambda draft: edit_note(draft, note.id, content=note.content.replace(old, new)))
    said = "\n".join(line for line in WRAPPED.replace(old, new).split("\n") if line)
    assert "\n".join(tree(folder)["MEMORY.md"].decode().split()) == "\n".join(said.split())
    memory.history.undo()
    assert tree(folder) == before
    memory.change("hide", lambda draft: hide_note(draft, note.id))
    memory.history.undo()
    assert tree(folder) == before


@pytest.mark.parametrize("data", [b"\xff\xfe", b"---\nname: \xff\n---\n"])
def test_a_page_that_cannot_be_read_is_named_keeps_its_bytes_and_its_note_stands_as_it_was(
    folder: Path, data: bytes
) -> None:
    memory = Memory.open(folder)
    note = note_of(memory, "debugging.md")
    (folder / "debugging.md").write_bytes(data)
    (folder / "strange.md").write_bytes(data)
    memory.refresh()
    assert len(memory.snapshot.problems) == 2
    assert memory.snapshot.by_id[note.id] == note
    with pytest.raises(InvalidInputError):
        memory.change("edit", lambda draft: edit_note(draft, note.id, content="Mine."))
    other = note_of(memory, "feedback_pnpm.md")
    memory.change("edit", lambda draft: edit_note(draft, other.id, content="Other."))
    assert (folder / "debugging.md").read_bytes() == (folder / "strange.md").read_bytes() == data
    assert {record.path.read_bytes() for record in memory.maintenance.set_aside()} == {data}
    (folder / "debugging.md").write_text(PAGES["debugging.md"])
    (folder / "strange.md").unlink()
    memory.refresh()
    assert memory.snapshot.by_id[note.id].content == note.content
    assert memory.snapshot.problems == ()


def test_an_index_that_cannot_be_read_is_left_alone_while_pages_come_and_go(folder: Path) -> None:
    (folder / "MEMORY.md").write_bytes(b"\xff\xfe- [x](billing.md)\n")
    before, memory = tree(folder), Memory.open(folder)
    memory.change("new", lambda draft: create_note(draft, "claude", "New one", "Text."))
    memory.change("hide", lambda draft: hide_note(draft, note_of(memory, "billing.md").id))
    assert tree(folder)["MEMORY.md"] == before["MEMORY.md"]
    memory.history.undo()
    memory.history.undo()
    assert tree(folder) == before


@pytest.mark.slow
def test_a_text_too_long_for_a_page_is_refused_before_anything_is_written(folder: Path) -> None:
    before, memory = tree(folder), Memory.open(folder)
    with pytest.raises(InvalidInputError, match="at most 4 MB"):
        memory.change("new", lambda draft: create_note(draft, "claude", "Long", "x" * (5 << 20)))
    assert tree(folder) == before
    (folder / "huge.md").write_bytes(b"y" * (5 << 20))
    memory.refresh()
    assert [problem.place for problem in memory.snapshot.problems] == ["huge.md"]


# Laws

CHARACTERS = st.characters(exclude_categories=["Cs"], max_codepoint=0x2FFF)
TEXT = st.text(
    st.one_of(
        st.sampled_from("ab \n\t\r-#:[]()\"'`>*_\ufeff|&!%"),
        CHARACTERS,
    ),
    max_size=60,
)
FRONT = st.builds(
    lambda *lines: "".join(["---\n", *lines, "---\n"]),
    st.sampled_from(["", "name: a page\n", "name: slug-name\n", 'name: "q: x"\n', "title: T\nname: n\n"]),
    st.sampled_from(
        ["", "description: what it says\n", "description: >\n  two\n  lines\n", "description: ''\n"]
    ),
    st.sampled_from(
        ["", "type: user\n", "metadata:\n  type: project\n  x: 1\n", "metadata:\n", "tags: [a, b]\n"]
    ),
    st.sampled_from(["", "# comment\n", "other:\n  - 1\n  - 2\n", "\n"]),
)
PAGE = st.builds(
    lambda bom, front, body, crlf: bom + (front + body).replace("\n", "\r\n" if crlf else "\n"),
    st.sampled_from(["", "\ufeff"]),
    st.one_of(st.just(""), FRONT),
    TEXT,
    st.booleans(),
)
NAMES = st.sampled_from(["a.md", "b.md", "Über.md", "in/c.md", "with space.md"])
INDEXES = st.one_of(
    st.none(),
    TEXT,
    st.just("# Index\n\n- [A](a.md) — hook\n- [B](b.md)"),
    st.just("- [A](a.md)\r\nwords\r\n- [x](<with space.md>)\r\n"),
)


@pytest.mark.slow
@LAWS
@given(
    pages=st.dictionaries(NAMES, PAGE, min_size=1),
    index=INDEXES,
    title=st.one_of(st.none(), TEXT.filter(lambda text: text.strip() != "")),
    content=st.one_of(st.none(), TEXT),
    deed=st.sampled_from(["edit", "hide", "new"]),
    pick=st.integers(0, 9),
)
def test_a_change_touches_its_page_alone_and_undo_gives_back_the_exact_bytes(
    pages: dict[str, str],
    index: str | None,
    title: str | None,
    content: str | None,
    deed: str,
    pick: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = write_folder(tmp_path_factory.mktemp("law"), pages | ({"MEMORY.md": index} if index else {}))
    before, memory = tree(folder), Memory.open(folder)
    notes = [note for note in memory.snapshot.notes if note.page and note.page.file != "MEMORY.md"]
    if not notes:
        return
    note = notes[pick % len(notes)]
    assert note.page is not None
    if deed == "edit":
        _, made = memory.change("x", lambda draft: edit_note(draft, note.id, title=title, content=content))
    elif deed == "hide":
        _, made = memory.change("x", lambda draft: hide_note(draft, note.id))
    else:
        _, made = memory.change("x", lambda draft: create_note(draft, "claude", title or "t", content or "c"))
    if deed != "new":
        assert _differs(folder, before) <= {note.page.file, "MEMORY.md"}
    others = before.keys() - {note.page.file, "MEMORY.md"}
    assert {name: tree(folder)[name] for name in others} == {name: before[name] for name in others}
    shown = {one.id: (one.title, one.content, one.hidden) for one in memory.snapshot.notes}
    again = Memory.open(folder)
    assert {one.id: (one.title, one.content, one.hidden) for one in again.snapshot.notes} == shown
    assert again.snapshot.problems == memory.snapshot.problems
    assert all(entry.change_set.kind != "outside" for entry in again.history.log())
    if not made.empty:
        memory.history.undo(made)
    assert tree(folder) == before


# What the system refuses


@pytest.mark.slow
def test_a_page_that_cannot_be_written_yet_is_owed_and_others_can_be_edited_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(folder)
    refused, before = folder / "debugging.md", tree(folder)
    plain = writing.put_instead

    def refusing(staged: Staged, expected: Fingerprint | None, *, moved: bool = False) -> Replaced | None:
        if staged.path == refused:
            raise StorageError("cannot be written (no space left)", where=str(refused))
        return plain(staged, expected, moved=moved)

    monkeypatch.setattr(writing, "put_instead", refusing)
    id = note_of(memory, "debugging.md").id
    with pytest.raises(UnfinishedError):
        memory.change("edit", lambda draft: edit_note(draft, id, content="Edited."))
    assert tree(folder) == before
    again = Memory.open(folder)
    # What is shown is what the file says.
    assert again.snapshot.by_id[id].content == memory.snapshot.by_id[id].content != "Edited."
    assert again.take_notices()
    again.change("edit", lambda draft: edit_note(draft, note_of(again, "billing.md").id, content="Other."))
    assert "Other." in (folder / "billing.md").read_text()
    assert tree(folder)["debugging.md"] == before["debugging.md"]
    monkeypatch.undo()
    done = Memory.open(folder)
    assert "Edited." in refused.read_text()
    assert done.store.journal is not None
    assert done.store.journal.pending_count() == 0
    assert [entry.change_set.kind for entry in done.history.log()] == ["edit", "edit"]
    done.history.undo(done.history.log()[1].change_set)
    done.history.undo(done.history.log()[1].change_set)
    assert all(not path.name.endswith(".tmp") for path in folder.iterdir())


def test_a_folder_that_only_says_it_is_a_home_of_pages_leads_to_no_other_folder(
    folder: Path, tmp_path: Path
) -> None:
    Memory.open(folder)
    before = tree(folder)
    planted = tmp_path / "clone" / "pages"
    shutil.copytree(home_of(folder), planted)
    assert folder_of(planted) == planted
    memory = Memory.open(planted)
    memory.change("all", lambda draft: edit_note(draft, memory.snapshot.notes[0].id, content="changed"))
    memory.change("new", lambda draft: create_note(draft, "app", "Of the clone", "Text"))
    assert tree(folder) == before
