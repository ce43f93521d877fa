/** Whether a name of a rule covers the name of a branch or tag: `*` stands for any text, slashes and nothing included. Linear. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === name
  const first = parts[0]!
  const last = parts.at(-1)!
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  // Each part as far left as it goes leaves the most room for the rest.
  const end = name.length - last.length
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
