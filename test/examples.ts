import { createHash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../src/api/endpoint.ts'
import { operationIdOf } from '../src/edges/http/openapi/operation-id.ts'

/** A folder for `tools/examples.ts`, which collects answers from tests as examples of the OpenAPI document. */
const folder = process.env['STITHY_EXAMPLES_DIR']

/** An answer to an operation, with what differs between runs replaced. */
export type Recorded = { readonly operation: string; readonly answer: unknown }

const mostPerOperation = 30
const counts = new Map<string, number>()

/** Appends an answer to the file of this process if examples are collected; the first ones of each operation only. */
export function recordExample(e: Endpoint, answer: unknown): void {
  if (folder === undefined) return
  const operation = operationIdOf(e)
  const count = counts.get(operation) ?? 0
  if (count >= mostPerOperation) return
  if (!Array.isArray(answer) || answer.length > 0) counts.set(operation, count + 1)
  else if (count > 0) return
  const recorded: Recorded = { operation, answer: stable(shortened(answer)) }
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(recorded)}\n`)
}

/** At most one element of each list, and two lines of each long text. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shortened)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]))
  return typeof value === 'string' && value.length > 400 ? value.split('\n', 2).join('\n').slice(0, 400) : value
}

const secret = /(^|_)(token|secret|password|recovery_codes|uri|api_key|client_key|access_key)$/
const id = /^(id|\w+_ids?)$/

/** Replaces what differs between runs: ids, times, hosts, hashes, and the endings that make names of tests unique. */
function stable(answer: unknown): unknown {
  const ids = new Map<number, number>()
  const numberOf = (given: number): number => {
    // Small numbers are kept: -1 and 0 have a meaning of their own.
    if (given < 1) return given
    if (!ids.has(given)) ids.set(given, ids.size + 1)
    return ids.get(given)!
  }
  const hashes = new Map<string, string>()
  const hashOf = (given: string): string => {
    if (/^0+$/.test(given)) return given
    if (!hashes.has(given)) hashes.set(given, createHash('sha256').update(`example ${hashes.size}`).digest('hex'))
    return hashes.get(given)!.slice(0, given.length)
  }
  const textOf = (text: string): string =>
    text
      .replaceAll(new RegExp(`-${process.pid.toString(36)}-[0-9a-z]+`, 'g'), '')
      .replace(/^ssh:\/\/git@127\.0\.0\.1(:\d+)?/, 'ssh://git@git.example.com')
      .replaceAll(/http:\/\/127\.0\.0\.1(:\d+)?/g, 'https://git.example.com')
      .replaceAll('127.0.0.1', '192.0.2.1')
      .replaceAll(/\b([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b/g, hashOf)
      .replaceAll(
        /(\/(?:projects|groups|users|pipelines|jobs|avatar)\/)(\d+)\b/g,
        (_, path, given) => `${path}${numberOf(Number(given))}`,
      )
      .replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?/, (_, part) => `2026-01-15T10:30:00${part ? '.000' : ''}`)
      .replace(/^\d{4}-\d\d-\d\d$/, '2026-01-15')
  const of = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((element) => of(element, name))
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).map(([key, inner]) => [key, of(inner, key)] as const)
      const record: Record<string, unknown> = Object.fromEntries(entries)
      const { id: full, short_id: short } = record
      if (typeof full === 'string' && typeof short === 'string') record['short_id'] = full.slice(0, short.length)
      return record
    }
    if (typeof value === 'number') return id.test(name) ? numberOf(value) : value
    if (typeof value === 'string') return value !== '' && secret.test(name) ? 'example-secret' : textOf(value)
    return value
  }
  return of(answer, '')
}
