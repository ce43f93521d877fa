/** A JSON line of the log as text for a user at a terminal: time, level, message, and the other fields. */
export function plainLine(line: string): string {
  const { time, level, msg, pid: _pid, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const facts = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const head = [String(time).slice(11, 19), String(level).toUpperCase().padEnd(5), msg, ...facts].join(' ')
  const stack = (err as { stack?: unknown } | undefined)?.stack
  return `${withoutControls(head)}\n${stack === undefined ? '' : `${withoutControls(String(stack), '\n')}\n`}`
}

/** A path or a user name may contain sequences that a terminal would obey. */
const withoutControls = (text: string, except = ''): string =>
  text.replace(/\p{Cc}/gu, (each) => (each === except ? each : '?'))
