import { ParameterError } from '../../api/params/parameter-error.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Exchange } from '../http/answer.ts'
import { JsonShape, parseJson } from '../http/body/json.ts'
import { atPace, usualPace } from '../http/body/pace.ts'
import { readBytes } from '../http/body/read-bytes.ts'

/** More than the largest batch we answer. */
const maxBodyBytes = 1024 * 1024

/** Each object of a batch is three; clients send a hundred. */
const maxValues = 10_000

export const unprocessable = (message: string): Failure => new Failure('unprocessable', message)

/** The JSON object that a call brings. */
export async function readCall({ req }: Exchange): Promise<Readonly<Record<string, unknown>>> {
  const shape = new JsonShape(maxValues)
  try {
    return parseJson(await atPace(req, usualPace, () => readBytes(req, maxBodyBytes, (chunk) => shape.push(chunk))))
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    throw unprocessable(shape.values > maxValues ? error.message : 'The body is no JSON object')
  }
}

/** A hash that may be absent or null: what a client says of the branch it works on, for servers that ask. */
export function checkRef(value: unknown): void {
  const name = (value as { name?: unknown } | null | undefined)?.name
  if (value != null && typeof name !== 'string') throw unprocessable('ref is invalid')
}
