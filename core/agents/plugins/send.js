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
