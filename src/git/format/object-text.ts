import { decodeText } from './text.ts'

/** The text of a commit or an annotated tag: header lines, an empty line, the message. */
export type ObjectText = {
  /** Repeated headers (`parent`, `mergetag`) keep their order. A continued header (`gpgsig`) is joined with newlines. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly message: string
}

export function parseObjectText(content: Buffer): ObjectText {
  const gap = content.indexOf('\n\n')
  const head = gap < 0 ? content : content.subarray(0, gap)
  const encoding = /^encoding (.*)$/m.exec(head.toString('latin1'))?.[1]
  const decode = decoderOf(encoding)
  const headers = new Map<string, string[]>()
  let last: string[] | undefined
  for (const line of headerLines(head, decode)) {
    if (line.startsWith(' ')) {
      if (last) last[last.length - 1] += `\n${line.slice(1)}`
      continue
    }
    const space = line.indexOf(' ')
    if (space < 0) continue
    const key = line.slice(0, space)
    last = headers.get(key) ?? []
    last.push(line.slice(space + 1))
    headers.set(key, last)
  }
  return { headers, message: gap < 0 ? '' : decode(content.subarray(gap + 2)) }
}

type Decode = (bytes: Buffer) => string

/**
 * The charset is guessed from all lines together. A named one is decoded by line: a name that does not end its shift of
 * ISO-2022-JP must not swallow the headers that follow.
 */
function headerLines(head: Buffer, decode: Decode): string[] {
  if (decode === decodeText) return decodeText(head).split('\n')
  return head
    .toString('latin1')
    .split('\n')
    .map((line) => decode(Buffer.from(line, 'latin1')))
}

const ascii = 'tree'

/**
 * Decodes with the encoding that a commit names. Guesses the charset if it names none, an unknown one, or one that does not include ASCII,
 * such as UTF-16: git writes headers in ASCII, so that name is only a setting of the client.
 */
function decoderOf(encoding: string | undefined): Decode {
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) return decodeText
  try {
    const decoder = new TextDecoder(encoding)
    if (decoder.decode(Buffer.from(ascii)) !== ascii) return decodeText
    return (bytes) => decoder.decode(bytes).replaceAll('\0', '')
  } catch {
    return decodeText
  }
}
