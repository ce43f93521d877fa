/** A line is longer than the limit. */
export class LineTooLong extends Error {
  override name = 'LineTooLong'
}

/** The lines of a stream as bytes, without their ends, counted from 1. An empty last line is none. Throws `LineTooLong`. */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  { maxBytes }: { readonly maxBytes: number },
): AsyncGenerator<{ readonly bytes: Buffer; readonly line: number }> {
  let parts: Buffer[] = []
  let length = 0
  let line = 0
  const take = (): Buffer => {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    parts = []
    length = 0
    return bytes
  }
  for await (const chunk of stream) {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(10, from)
      const part = chunk.subarray(from, end < 0 ? undefined : end)
      length += part.length
      if (length > maxBytes) throw new LineTooLong(`Line ${line + 1} is longer than ${maxBytes} bytes`)
      parts.push(part)
      if (end < 0) break
      from = end + 1
      line++
      yield { bytes: take(), line }
    }
  }
  if (length > 0) yield { bytes: take(), line: line + 1 }
}
