"""What is said before an action: on pairs of notes and calls that a person labelled, and once in a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.drafts import make_note

from core.grounding.advice import Advice, advice
from core.grounding.references import references
from core.model.judgement import Standing
from core.model.note import replace
from nuggets_tui.before_action import advice_for, first_time, forget_sessions

ROOT = "/work/shop"
# Each note, the calls before which it matters, and calls before which it does not. A call that begins with "$" is a
# command, another one a file that is edited.
LABELLED: list[tuple[str, list[str], list[str]]] = [
    ("Never edit src/gen/api.ts by hand: it is generated from openapi.yaml.",
     ["src/gen/api.ts"], ["src/gen/client.ts", "openapi.json", "$ cat src/gen/api.ts", "src/api.ts"]),
    ("Always run the tests before pushing. In src/billing/ money is kept in cents, never as floats.",
     ["src/billing/invoice.py", "src/billing/tax/vat.py"], ["src/bill.py", "src/shipping/cost.py", "$ git push"]),
    ("Run `make deploy` only from main, after the release notes are written.",
     ["$ make deploy", "$ cd ops && make deploy ENV=prod", "$ sudo make deploy"],
     ["$ make test", "$ make", "$ echo make deploy", "deploy/main.tf", "$ git checkout main"]),
    ("Do not touch migrations/ once they are merged; write a new one instead of changing an old one.",
     ["migrations/0007_orders.sql"], ["src/migrations.py", "docs/migrations.md", "$ ls migrations"]),
    ("Before you change src/auth/token.py, read RFC 7519 again: three incidents began there.",
     ["src/auth/token.py"], ["src/auth/session.py", "tests/auth/test_token.py", "$ pytest src/auth/token.py"]),
    ("The handler for tokens lives in src/auth/handler.py.", [], ["src/auth/handler.py", "$ vim src/auth/handler.py"]),
    ("src/ui/theme.css has the colours; src/ui/fonts.css the fonts.", [], ["src/ui/theme.css", "src/ui/fonts.css"]),
    ("Careful with `git push --force`: the mirror cannot follow it.",
     ["$ git push --force", "$ git push --force origin topic"], ["$ git push", "$ git pull --force", "$ git status"]),
    ("Use `pnpm add` instead of npm, or the lock file drifts.",
     ["$ pnpm add zod", "$ FOO=1 pnpm add -D vitest"], ["$ pnpm test", "$ npm ls", "package.json"]),
    ("We decided that docker-compose.yml is for development only; production uses Helm.",
     ["docker-compose.yml"], ["helm/values.yaml", "$ docker compose up", "Dockerfile"]),
    ("Yesterday I looked at src/cart.py and it was fine.", [], ["src/cart.py", "$ python src/cart.py"]),
    ("config/limits.toml must be changed together with docs/limits.md.",
     ["config/limits.toml", "docs/limits.md"], ["config/other.toml", "docs/index.md", "$ cat config/limits.toml"]),
    ("Niemals scripts/seed.py gegen die Produktion laufen lassen.",
     ["scripts/seed.py"], ["scripts/load.py", "$ python scripts/other.py"]),
    ("N'oubliez pas: il faut relancer le build avant de modifier web/app/main.ts.",
     ["web/app/main.ts"], ["web/app/other.ts", "$ npm run build"]),
    ("Files src/a.py, src/b.py, src/c.py, src/d.py, src/e.py, src/f.py, src/g.py must all stay small.",
     [], ["src/a.py", "src/g.py"]),
    ("`terraform apply` needs a second pair of eyes; never run it on a Friday.",
     ["$ terraform apply", "$ terraform apply -auto-approve"], ["$ terraform plan", "infra/main.tf"]),
    ("The password for staging is in src/secrets.py and must be rotated: password=hunter2hunter2!",
     [], ["src/secrets.py"]),
    ("vendor/ is vendored: changes belong upstream.", ["vendor/lib/x.go"], ["src/vendor.go", "$ go mod vendor"]),
    ("Only with approval from Ops may nginx/site.conf be edited.",
     ["nginx/site.conf"], ["nginx/other.conf", "$ nginx -t"]),
    ("The entry is a.py here. Never edit data.py by hand.", ["data.py"], ["a.py"]),
    ("Never edit Dockerfile by hand, it is made from infra/.", ["Dockerfile"], ["src/docker.py"]),
    ("Careful: `hg push` goes to two remotes.", ["$ hg push", "$ (hg push)", "$ echo a & hg push"],
     ["$ hg commit -m \"x\nhg push later\"", "$ cat <<E\nhg push\nE"]),
    ("Keep README.md under 200 lines.", ["README.md"], ["docs/README.txt", "CHANGELOG.md", "$ wc -l README.md"]),
]  # fmt: skip


def told(call: str) -> dict[str, Any]:
    given = {"command": call[2:]} if call.startswith("$ ") else {"file_path": f"{ROOT}/{call}"}
    return {"tool_input": given}


def standings(note: str, state: Any) -> list[Standing]:
    return [Standing(one.said, one.kind, one.name, state) for one in references(note, ROOT)]


def said(note: str) -> list[Advice]:
    made = make_note(1, content=note)
    return advice([made], {made.id: standings(note, "fresh")})


def test_what_is_said_is_right_nine_times_in_ten_and_never_on_others() -> None:
    right, wrong, missed = [], [], []
    every = [call for _, wanted, _ in LABELLED for call in wanted]
    for note, wanted, unwanted in LABELLED:
        known = said(note)
        others = [call for call in every if call not in wanted]
        hits = {call for call in (*wanted, *unwanted, *others) if any(advice_for(told(call), ROOT, known))}
        right += hits & set(wanted)
        wrong += [(note, call) for call in hits - set(wanted)]
        missed += [(note, call) for call in set(wanted) - hits]
    assert wrong == []
    assert len(right) >= 0.9 * (len(right) + len(missed)), missed


def test_a_file_comes_before_its_folder_and_what_is_recalled_more_first() -> None:
    known = [
        Advice("folder", "src", "folder", "x", 9), Advice("file", "src/a.py", "seldom", "x", 1),
        Advice("file", "src/a.py", "often", "x", 5), Advice("folder", "src/deep", "deep", "x", 0),
    ]  # fmt: skip
    assert [one[2] for one in advice_for(told("src/a.py"), ROOT, known)] == ["often", "seldom", "folder"]
    assert [one[2] for one in advice_for(told("src/deep/b.py"), ROOT, known)] == ["deep", "folder"]


def test_nothing_is_said_of_what_is_gone_or_hidden() -> None:
    note = "Never edit src/gen/api.ts by hand."
    made = make_note(1, content=note)
    gone, fresh = standings(note, "gone"), standings(note, "fresh")
    assert advice([made], {made.id: gone}) == []
    assert advice([replace(made, hidden=True)], {made.id: fresh}) == []


@pytest.mark.parametrize(
    "given",
    [None, 3, [], {"file_path": 7}, {"file_path": "\0"}, {"command": ["make", "deploy"]}, {"command": ""},
     {"file_path": "../../etc/passwd"}, {"file_path": "/elsewhere/src/gen/api.ts"}],
)  # fmt: skip
def test_an_event_of_any_shape_is_no_error(given: object) -> None:
    known = said("Never edit src/gen/api.ts by hand. Careful with `make deploy`.")
    assert not list(advice_for({"tool_input": given}, ROOT, known))


def test_a_session_is_told_once(tmp_path: Path) -> None:
    asked = [first_time(str(tmp_path), *one) for one in (("s", "a"), ("s", "a"), ("s", "b"), ("t", "a"))]
    assert asked == [True, False, True, True]
    forget_sessions(str(tmp_path))
    assert not first_time(str(tmp_path), "s", "a")
