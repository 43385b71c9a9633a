"""The plugins hand each event of their agent to the hook, and the briefing to the agent; run by Node where it is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kits.agent_files import place

from core.agents.pieces import FilePiece
from core.agents.targets import Command, targets

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node")
# Stands in for this program: writes down each event, and says a briefing at the start.
FAKE = """
import json, sys
event = json.load(sys.stdin)
print("THE BRIEFING" if event["hook_event_name"] == "SessionStart" else "")
with open(sys.argv[1], "a") as file:
    file.write(json.dumps([event, sys.argv[2:]]) + "\\n")
"""
OPENCODE = """
import plugin from "./plugin.mjs"
// The second half of OpenCode 1 sets plugins up as OpenCode 2 does, without sessions.
await plugin.setup({ agent: {}, options: {} })
const hooks = await plugin.server({ directory: "/p" })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "I prefer tabs" }, { type: "file" }] })
const said = { system: ["S"] }
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, said)
await hooks["tool.execute.after"]({ tool: "edit", sessionID: "s", args: { filePath: "/p/a.py" } }, {})
await hooks["tool.execute.after"]({ tool: "read", sessionID: "s", args: { filePath: "/p/b.py" } }, {})
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
console.log(said.system.join())
"""
OPENCODE_2 = """
import plugin from "./plugin.mjs"
if (plugin.id !== "nuggets") throw new Error(plugin.id)
const on = {}
const hook = async (name, handler) => { on[name] = handler }
let emit
const events = { async *[Symbol.asyncIterator]() {
  yield* [{ type: "session.execution.started", data: { sessionID: "s" } },
    { type: "session.execution.succeeded", data: { sessionID: "of another folder" } },
    { type: "session.execution.succeeded", data: { sessionID: "s" } }]
  emit()
} }
const followed = new Promise((resolve) => { emit = resolve })
let start
const started = new Promise((resolve) => { start = resolve })
const stream = { async *[Symbol.asyncIterator]() { await started; yield* events } }
const cleanup = await plugin.setup({
  location: { directory: "/p" }, session: { hook }, tool: { hook }, event: { subscribe: () => stream },
})
await on.prompt({ sessionID: "s", prompt: { text: "I prefer tabs" } })
const said = { sessionID: "s", system: [{ type: "text", text: "S" }] }
await on.context(said)
await on["execute.after"]({ tool: "edit", sessionID: "s", status: "completed", input: { path: "/p/a.py" } })
await on["execute.after"]({ tool: "edit", sessionID: "s", status: "error", input: { path: "/p/b.py" } })
await on["execute.after"]({ tool: "read", sessionID: "s", status: "completed", input: { path: "/p/c.py" } })
start()
await followed
cleanup()
console.log(said.system.map((part) => part.text).join())
"""
PI = """
import extension from "./plugin.mjs"
const on = {}
extension({ on: (name, handler) => { on[name] = handler } })
const ctx = { cwd: "/p", sessionManager: { getSessionId: () => "s" } }
await on.session_start({}, ctx)
const said = await on.before_agent_start({ prompt: "I prefer tabs", systemPrompt: "S" }, ctx)
await on.tool_result({ toolName: "edit", input: { path: "/p/a.py" } }, ctx)
await on.tool_result({ toolName: "read", input: { path: "/p/b.py" } }, ctx)
await on.session_shutdown({}, ctx)
console.log(said.systemPrompt)
"""


def written(name: str, folder: Path, command: Command) -> None:
    found = [one.piece for one in targets(name, place(folder), command) if isinstance(one.piece, FilePiece)]
    (folder / "plugin.mjs").write_text(found[0].text)


def run(folder: Path, code: str) -> str:
    assert NODE is not None
    (folder / "drive.mjs").write_text(code)
    done = subprocess.run([NODE, "drive.mjs"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "end"),
    [("opencode", OPENCODE, "Stop"), ("opencode", OPENCODE_2, "Stop"), ("pi", PI, "SessionEnd")],
)
def test_each_event_reaches_the_hook_and_the_briefing_the_agent(
    name: str, code: str, end: str, tmp_path: Path
) -> None:
    fake, log = tmp_path / "fake it.py", tmp_path / "log"
    fake.write_text(FAKE)
    written(name, tmp_path, Command((sys.executable, str(fake), str(log)), "/my memory"))
    assert "THE BRIEFING" in run(tmp_path, code)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert {tuple(words) for _, words in events} == {("hook", name, "--home", "/my memory")}
    found = {event["hook_event_name"]: event for event, _ in events}
    assert set(found) == {"SessionStart", "UserPromptSubmit", "PostToolUse", end}
    assert found["UserPromptSubmit"]["prompt"] == "I prefer tabs"
    assert "/p/a.py" in json.dumps(found["PostToolUse"])
    assert len(events) == len(found)
    assert {event["session_id"] for event in found.values()} == {"s"}
    assert {event["cwd"] for event in found.values()} == {"/p"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("opencode", OPENCODE), ("opencode", OPENCODE_2), ("pi", PI)])
def test_a_program_that_is_gone_is_no_failure_of_the_agent(name: str, code: str, tmp_path: Path) -> None:
    written(name, tmp_path, Command(("/gone/nuggets",)))
    run(tmp_path, code.replace("said.systemPrompt", "said"))
