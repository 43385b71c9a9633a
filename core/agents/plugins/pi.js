// Memory for Pi, made by nuggets-tui. "nuggets agent remove pi" takes this file out.
import { spawn } from "node:child_process"

SEND

export default function (pi) {
  let briefing = ""
  const about = (ctx) => ({
    session_id: String(ctx?.sessionManager?.getSessionId?.() ?? ctx?.sessionManager?.getSessionFile?.() ?? ""),
    cwd: ctx?.cwd,
  })
  pi.on("session_start", async (_event, ctx) => {
    briefing = await send({ ...about(ctx), hook_event_name: "SessionStart" }, true)
  })
  pi.on("before_agent_start", async (event, ctx) => {
    await send({ ...about(ctx), hook_event_name: "UserPromptSubmit", prompt: event.prompt })
    if (briefing) return { systemPrompt: event.systemPrompt + "\n\n" + briefing }
  })
  pi.on("tool_result", async (event, ctx) => {
    if (!["edit", "write"].includes(event.toolName) || event.isError) return
    await send({
      ...about(ctx), hook_event_name: "PostToolUse", tool_name: event.toolName, tool_input: event.input,
    })
  })
  pi.on("session_before_compact", async (_event, ctx) => {
    await send({ ...about(ctx), hook_event_name: "PreCompact" })
  })
  pi.on("session_shutdown", async (_event, ctx) => {
    await send({ ...about(ctx), hook_event_name: "SessionEnd" })
  })
}
