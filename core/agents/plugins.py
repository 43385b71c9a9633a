"""Plugins that hand the events of agents without hooks of their own to `nuggets hook`, as files for these agents."""

from __future__ import annotations

from typing import Final

# COMMAND stands for a JSON list of words. Neither plugin has a type in it, so that both are plain JavaScript. They wait
# for nothing but the briefing, and for that at most two seconds.
_RUN: Final = """\
const PROGRAM = COMMAND

function send(event, wait = false) {
  return new Promise((resolve) => {
    let said = ""
    try {
      const child = spawn(PROGRAM[0], PROGRAM.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => resolve(""), 2000)
      child.on("error", () => resolve(""))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (part) => { said += part })
      child.on("close", () => { clearTimeout(timer); resolve(said) })
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve("")
    }
    if (!wait) resolve("")
  })
}
"""

OPENCODE_PLUGIN: Final = f"""\
// Memory for OpenCode 1, made by nuggets-tui. "nuggets agent remove opencode" takes this file out.
import {{ spawn }} from "node:child_process"

{_RUN}
export const Nuggets = async ({{ directory }}) => {{
  const briefed = new Map()
  const about = (session_id) => ({{ session_id, cwd: directory }})
  return {{
    "chat.message": async (input, output) => {{
      const prompt = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text).join("\\n")
      await send({{ ...about(input.sessionID), hook_event_name: "UserPromptSubmit", prompt }})
    }},
    "experimental.chat.system.transform": async (input, output) => {{
      const session = input.sessionID ?? ""
      if (!briefed.has(session)) {{
        briefed.set(session, await send({{ ...about(session), hook_event_name: "SessionStart" }}, true))
      }}
      if (briefed.get(session)) output.system.push(briefed.get(session))
    }},
    "tool.execute.after": async (input) => {{
      if (!["edit", "write", "patch", "multiedit"].includes(input.tool)) return
      await send({{
        ...about(input.sessionID), hook_event_name: "PostToolUse", tool_name: input.tool, tool_input: input.args,
      }})
    }},
    event: async ({{ event }}) => {{
      if (event.type === "session.idle" || event.type === "session.compacted") {{
        await send({{ ...about(event.properties?.sessionID), hook_event_name: "Stop" }})
      }}
    }},
  }}
}}
"""

PI_EXTENSION: Final = f"""\
// Memory for Pi, made by nuggets-tui. "nuggets agent remove pi" takes this file out.
import {{ spawn }} from "node:child_process"

{_RUN}
export default function (pi) {{
  let briefing = ""
  const about = (ctx) => ({{
    session_id: String(ctx?.sessionManager?.getSessionId?.() ?? ctx?.sessionManager?.getSessionFile?.() ?? ""),
    cwd: ctx?.cwd,
  }})
  pi.on("session_start", async (_event, ctx) => {{
    briefing = await send({{ ...about(ctx), hook_event_name: "SessionStart" }}, true)
  }})
  pi.on("before_agent_start", async (event, ctx) => {{
    await send({{ ...about(ctx), hook_event_name: "UserPromptSubmit", prompt: event.prompt }})
    if (briefing) return {{ systemPrompt: event.systemPrompt + "\\n\\n" + briefing }}
  }})
  pi.on("tool_result", async (event, ctx) => {{
    if (!["edit", "write"].includes(event.toolName) || event.isError) return
    await send({{
      ...about(ctx), hook_event_name: "PostToolUse", tool_name: event.toolName, tool_input: event.input,
    }})
  }})
  pi.on("session_before_compact", async (_event, ctx) => {{
    await send({{ ...about(ctx), hook_event_name: "PreCompact" }})
  }})
  pi.on("session_shutdown", async (_event, ctx) => {{
    await send({{ ...about(ctx), hook_event_name: "SessionEnd" }})
  }})
}}
"""
