import { Failure } from '../../kernel/failure.ts'
import type { Exchange } from '../http/answer.ts'
import { parseJson } from '../http/body/json.ts'
import { atPace, usualPace } from '../http/body/pace.ts'
import { readBytes } from '../http/body/read-bytes.ts'

/** More than the largest batch we answer. */
const maxBodyBytes = 1024 * 1024

export const unprocessable = (message: string): Failure => new Failure('unprocessable', message)

/** The JSON object that a call brings. */
export async function readCall({ req }: Exchange): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await atPace(req, usualPace, () => readBytes(req, maxBodyBytes))
  try {
    return parseJson(bytes)
  } catch {
    throw unprocessable('The body is no JSON object')
  }
}

/** A hash that may be absent or null: what a client says of the branch it works on, for servers that ask. */
export function checkRef(value: unknown): void {
  const name = (value as { name?: unknown } | null | undefined)?.name
  if (value != null && typeof name !== 'string') throw unprocessable('ref is invalid')
}
