import { ParameterError } from '../../api/params/parameter-error.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Exchange } from '../http/answer.ts'
import { JsonShape, parseJson } from '../http/body/json.ts'
import { atPace, usualPace } from '../http/body/pace.ts'
import { readBytes } from '../http/body/read-bytes.ts'

/** Larger than the largest accepted batch. */
const maxBodyBytes = 1024 * 1024

/** Each object of a batch has three values; clients send a hundred objects. */
const maxValues = 10_000

export const unprocessable = (message: string): Failure => new Failure('unprocessable', message)

/** The JSON object in the request body. */
export async function readCall({ req }: Exchange): Promise<Readonly<Record<string, unknown>>> {
  const shape = new JsonShape(maxValues)
  try {
    return parseJson(await atPace(req, usualPace, () => readBytes(req, maxBodyBytes, (chunk) => shape.push(chunk))))
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    throw unprocessable(shape.values > maxValues ? error.message : 'The body is not a JSON object')
  }
}

/** Validates an optional ref, which clients send for servers with permissions per branch. */
export function checkRef(value: unknown): void {
  const name = (value as { name?: unknown } | null | undefined)?.name
  if (value != null && typeof name !== 'string') throw unprocessable('ref is invalid')
}
