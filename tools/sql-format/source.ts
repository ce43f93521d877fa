import { layOut } from './layout.ts'
import { type Template, templatesOf } from './templates.ts'
import { tokensOf } from './tokens.ts'

const lineWidth = 120

export type Formatted = {
  readonly source: string
  /** Statements that are left as they are, each with the reason. */
  readonly skipped: readonly string[]
}

/** A source file with its `sql` templates formatted. Formatting twice changes nothing. */
export function formatSource(path: string, source: string): Formatted {
  let formatted = source
  const skipped: string[] = []
  // From the last on: positions of those before stay.
  for (const template of templatesOf(path, source).reverse()) {
    const body = source.slice(template.start, template.end)
    const outcome = formatTemplate(source, template)
    if ('reason' in outcome) skipped.push(`${path}: ${outcome.reason}\n${body}`)
    else formatted = formatted.slice(0, template.start) + outcome.body + formatted.slice(template.end)
  }
  return { source: formatted, skipped: skipped.reverse() }
}

type Outcome = { readonly body: string } | { readonly reason: string }

function formatTemplate(source: string, template: Template): Outcome {
  const { start, end } = template
  const body = source.slice(start, end)
  const lineStart = source.lastIndexOf('\n', start - 1) + 1
  const lineEnd = source.indexOf('\n', end) < 0 ? source.length : source.indexOf('\n', end)
  const { text, holes, prefix } = withPlaceholders(source, template)
  const isShort = source
    .slice(lineStart, lineEnd)
    .split('\n')
    .every((line) => line.length <= lineWidth)
  if (!text.includes('\n') && isShort) return { body }
  if (tokensOf(text).some((token) => token.includes('\n'))) return { reason: 'a string or comment spans lines' }

  const pattern = new RegExp(`${prefix}(\\d{4})_`, 'g')
  const filled = (line: string) => line.replace(pattern, (_, index: string) => holes[Number(index)]!)
  // A hole may span lines, and Biome indents them: its width must not depend on that.
  const widthOf = (line: string) =>
    line.replace(pattern, (_, index: string) => holes[Number(index)]!.replace(/\s+/g, ' ')).length
  const base = /^ */.exec(source.slice(lineStart))![0]
  const lay = (width: number): string[] | Error => {
    try {
      return layOut(text, { width, widthOf })
    } catch (error) {
      return error as Error
    }
  }
  const lines = lay(lineWidth - base.length - 2)
  if (lines instanceof Error) return { reason: `cannot be parsed: ${lines.message.split('\n')[0]}` }
  if (JSON.stringify(tokensOf(lines.join('\n'))) !== JSON.stringify(tokensOf(text)))
    return { reason: 'would mean something else' }
  const around = start - lineStart + (lineEnd - end)
  if (lines.length === 1 && !lines[0]!.includes('--') && around + widthOf(lines[0]!) <= lineWidth)
    return { body: filled(lines[0]!) }
  return { body: ['', ...lines.map((line) => `${base}  ${filled(line)}`), base].join('\n') }
}

/** The text with a word for each hole, and the holes. The word occurs nowhere else in the text. */
function withPlaceholders(source: string, { start, end, holes }: Template) {
  let prefix = 'hole_'
  while (source.slice(start, end).includes(prefix)) prefix = `h${prefix}`
  let [text, at] = ['', start]
  for (const [index, hole] of holes.entries()) {
    text += `${source.slice(at, hole.start)}${prefix}${String(index).padStart(4, '0')}_`
    at = hole.end
  }
  return { prefix, text: text + source.slice(at, end), holes: holes.map((hole) => source.slice(hole.start, hole.end)) }
}
