/** What to run, and how. `input` is what it reads from its standard input. */
export type Call = {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly input: Buffer
  readonly timeoutMs?: number | undefined
}

/** How a program ended. `failure` says why it was not started. */
export type Ended = {
  readonly code: number | string | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly failure: string | undefined
}

const prefixBytes = 4

/** A message for a pipe: its length in 4 bytes, then each part, a buffer or a value of JSON, with a length of its own. */
export function frame(...parts: readonly (Buffer | object)[]): Buffer {
  const body = parts.flatMap((part) => {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(JSON.stringify(part))
    return [lengthOf(bytes), bytes]
  })
  const whole = Buffer.concat(body)
  return Buffer.concat([lengthOf(whole), whole])
}

/** The parts of a message, without the length of the whole. */
export function partsOf(message: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < message.length; ) {
    const end = at + prefixBytes + message.readUInt32BE(at)
    parts.push(message.subarray(at + prefixBytes, end))
    at = end
  }
  return parts
}

function lengthOf(bytes: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(bytes.length)
  return prefix
}
