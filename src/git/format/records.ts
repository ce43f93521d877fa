/** What output is divided by. */
export type RecordFormat = {
  readonly end: '\n' | '\0'
  /** Maximum bytes of the output, and the failure beyond. */
  readonly limit?: { readonly bytes: number; beyond(): Error }
}

/**
 * The records of an output without their ends, in batches: all that a chunk completes, because one at a time would take far longer. The
 * last one may lack its end.
 */
export async function* recordsOf(
  output: AsyncIterable<Buffer>,
  { end, limit }: RecordFormat,
): AsyncGenerator<Buffer[]> {
  const endByte = end.charCodeAt(0)
  /** Of a record that is incomplete: it is put together once, however many chunks it takes. */
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of output) {
    size += chunk.length
    if (limit && size > limit.bytes) throw limit.beyond()
    parts.push(chunk)
    if (!chunk.includes(endByte)) continue
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts)
    const records: Buffer[] = []
    let at = 0
    for (let stop = bytes.indexOf(endByte); stop >= 0; stop = bytes.indexOf(endByte, at)) {
      records.push(bytes.subarray(at, stop))
      at = stop + 1
    }
    parts = at < bytes.length ? [bytes.subarray(at)] : []
    yield records
  }
  if (parts.length > 0) yield [Buffer.concat(parts)]
}

/** The lines of an output that is complete, without empty ones. */
export const linesOf = (output: Buffer, encoding: 'latin1' | 'utf8' = 'latin1'): string[] =>
  output
    .toString(encoding)
    .split('\n')
    .filter((line) => line !== '')
