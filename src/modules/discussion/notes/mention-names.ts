/** Maximum names in one text; further names are ignored. */
const mostNames = 100

/** Replaces code in Markdown (fenced blocks and code spans) by backquotes. */
function prose(text: string): string {
  const lines: string[] = []
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1]
    if (fence === undefined && mark === undefined) lines.push(line)
    else if (fence === undefined) {
      fence = mark
      lines.push('`')
    } else if (mark === fence) fence = undefined
  }
  return lines.join('\n').replace(/`[^`\n]*`/g, '` `')
}

/** Characters of user names; a dot or dash at the end belongs to the sentence. */
const mention = /(?<![\w@/.-])@(\w(?:[\w.-]*\w)?)/g

export type MentionedName = {
  /** In lower case. */
  readonly name: string
  /** The text begins with the mention. */
  readonly addressed: boolean
}

/** The names mentioned with `@` in a text, without duplicates. */
export function mentionedNames(text: string): MentionedName[] {
  const shown = prose(text)
  const address = /^\s*(?:@\w[\w.-]*[\s,:]*(?:and\s+)?)*/.exec(shown)![0].length
  const names = new Map<string, MentionedName>()
  for (const { 1: found, index } of shown.matchAll(mention)) {
    const name = found!.toLowerCase()
    if (names.size < mostNames && !names.has(name)) names.set(name, { name, addressed: index < address })
  }
  return [...names.values()]
}
