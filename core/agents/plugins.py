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
// Memory for OpenCode 1 and 2, made by nuggets-tui. "nuggets agent remove opencode" takes this file out.
import {{ spawn }} from "node:child_process"

{_RUN}
const EDITS = ["edit", "write", "patch", "apply_patch", "multiedit"]

// What both versions have: the events of the sessions in one folder, each session briefed once.
function listener(cwd) {{
  const briefings = new Map()
  const about = (session_id) => ({{ session_id, cwd }})
  return {{
    knows: (session) => briefings.has(session),
    briefing(session) {{
      if (!briefings.has(session)) {{
        briefings.set(session, send({{ ...about(session), hook_event_name: "SessionStart" }}, true))
      }}
      return briefings.get(session)
    }},
    prompted: (session, prompt) => send({{ ...about(session), hook_event_name: "UserPromptSubmit", prompt }}),
    async edited(session, tool, input) {{
      if (!EDITS.includes(tool)) return
      await send({{ ...about(session), hook_event_name: "PostToolUse", tool_name: tool, tool_input: input }})
    }},
    ended: (session) => send({{ ...about(session), hook_event_name: "Stop" }}),
  }}
}}

// OpenCode 1
async function server({{ directory }}) {{
  const heard = listener(directory)
  return {{
    "chat.message": async (input, output) => {{
      const prompt = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text).join("\\n")
      await heard.prompted(input.sessionID, prompt)
    }},
    "experimental.chat.system.transform": async (input, output) => {{
      const said = await heard.briefing(input.sessionID ?? "")
      if (said) output.system.push(said)
    }},
    "tool.execute.after": (input) => heard.edited(input.sessionID, input.tool, input.args),
    event: async ({{ event }}) => {{
      if (event.type === "session.idle" || event.type === "session.compacted") {{
        await heard.ended(event.properties?.sessionID)
      }}
    }},
  }}
}}

// OpenCode 2. The second half of OpenCode 1 calls it, too, without any sessions.
async function setup(ctx) {{
  if (typeof ctx.session?.hook !== "function") return
  const heard = listener(ctx.location?.directory)
  await ctx.session.hook("prompt", (event) => heard.prompted(event.sessionID, event.prompt?.text ?? ""))
  await ctx.session.hook("context", async (event) => {{
    const said = await heard.briefing(event.sessionID)
    if (said) event.system.push({{ type: "text", text: said }})
  }})
  await ctx.tool?.hook?.("execute.after", async (event) => {{
    if (event.status === "completed") await heard.edited(event.sessionID, event.tool, event.input)
  }})
  const end = new AbortController()
  void follow(ctx, heard, end.signal)
  return () => end.abort()
}}

// Its events are of all folders: those of sessions that were heard here are ours.
async function follow(ctx, heard, signal) {{
  try {{
    for await (const event of ctx.event.subscribe({{ signal }})) {{
      const session = event.data?.sessionID
      if (/^session\\.(execution\\.(succeeded|failed|interrupted)|idle)$/.test(event.type) && heard.knows(session)) {{
        await heard.ended(session)
      }}
    }}
  }} catch {{
    // The plugin was taken out, or there is nothing to follow.
  }}
}}

export default {{ id: "nuggets", server, setup }}
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
