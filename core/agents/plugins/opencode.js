// Memory for OpenCode 1 and 2, made by nuggets-tui. "nuggets agent remove opencode" takes this file out.
import { spawn } from "node:child_process"

SEND

const EDITS = ["edit", "write", "patch", "apply_patch", "multiedit"]

// What both versions have: the events of the sessions in one folder, each session briefed once.
function listener(cwd) {
  const briefings = new Map()
  const about = (session_id) => ({ session_id, cwd })
  return {
    knows: (session) => briefings.has(session),
    briefing(session) {
      if (!briefings.has(session)) {
        briefings.set(session, send({ ...about(session), hook_event_name: "SessionStart" }, true))
      }
      return briefings.get(session)
    },
    prompted: (session, prompt) => send({ ...about(session), hook_event_name: "UserPromptSubmit", prompt }),
    async edited(session, tool, input) {
      if (!EDITS.includes(tool)) return
      await send({ ...about(session), hook_event_name: "PostToolUse", tool_name: tool, tool_input: input })
    },
    ended: (session) => send({ ...about(session), hook_event_name: "Stop" }),
  }
}

// OpenCode 1
async function server({ directory }) {
  const heard = listener(directory)
  return {
    "chat.message": async (input, output) => {
      const prompt = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text).join("\n")
      await heard.prompted(input.sessionID, prompt)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const said = await heard.briefing(input.sessionID ?? "")
      if (said) output.system.push(said)
    },
    "tool.execute.after": (input) => heard.edited(input.sessionID, input.tool, input.args),
    event: async ({ event }) => {
      if (event.type === "session.idle" || event.type === "session.compacted") {
        await heard.ended(event.properties?.sessionID)
      }
    },
  }
}

// OpenCode 2. The second half of OpenCode 1 calls it, too, without any sessions.
async function setup(ctx) {
  if (typeof ctx.session?.hook !== "function") return
  const heard = listener(ctx.location?.directory)
  await ctx.session.hook("prompt", (event) => heard.prompted(event.sessionID, event.prompt?.text ?? ""))
  await ctx.session.hook("context", async (event) => {
    const said = await heard.briefing(event.sessionID)
    if (said) event.system.push({ type: "text", text: said })
  })
  await ctx.tool?.hook?.("execute.after", async (event) => {
    if (event.status === "completed") await heard.edited(event.sessionID, event.tool, event.input)
  })
  const end = new AbortController()
  void follow(ctx, heard, end.signal)
  return () => end.abort()
}

// Its events are of all folders: those of sessions that were heard here are ours.
async function follow(ctx, heard, signal) {
  try {
    for await (const event of ctx.event.subscribe({ signal })) {
      const session = event.data?.sessionID
      if (/^session\.(execution\.(succeeded|failed|interrupted)|idle)$/.test(event.type) && heard.knows(session)) {
        await heard.ended(session)
      }
    }
  } catch {
    // The plugin was taken out, or there is nothing to follow.
  }
}

export default { id: "nuggets", server, setup }
