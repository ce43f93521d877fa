import type { StatementCheck } from '../checks.ts'
import type { Statement } from '../db.ts'
import type { Kind, Shape } from '../row.ts'
import type { Describer, Description } from './describe.ts'
import { readDescription, writeDescription } from './described.ts'

/** A statement and the shape that it is run with do not fit. */
export class StatementFault extends Error {
  constructor(faults: readonly string[], { text }: Statement) {
    super(`${faults.join('; ')}\nin the statement\n${text}`)
    this.name = 'StatementFault'
    seen.push(this)
  }
}

const seen: StatementFault[] = []

/** Comparisons that wait for a description. Nothing else waits for that of a statement that fails, or whose rows are only expected. */
const pending = new Set<Promise<void>>()

/**
 * The faults since the last call, with those of comparisons that are not complete yet. After a fault, a request answers 500 and a job
 * is retried, so a test calls this at its end.
 */
export async function takeFaults(): Promise<readonly StatementFault[]> {
  await Promise.allSettled(pending)
  return seen.splice(0)
}

/** Descriptions by text: one schema serves all tests of a process. Undefined where the server could not describe the statement. */
const described = new Map<string, Promise<Description | undefined>>()

/** Errors after which another execution may be described: locks held by others, and an unavailable database. */
const isPassing = (error: object): boolean =>
  !('severity' in error) || /^(?:08|53|55P03|57)/.test(String((error as { code?: unknown }).code))

/** Compares each statement with its shape, and all rows with it. */
export class Check implements StatementCheck {
  readonly #url: string
  #describer: Promise<Describer> | undefined

  constructor(url: string) {
    this.#url = url
  }

  statement(shape: Shape, statement: Statement, use: 'read' | 'cached'): Promise<void> {
    const comparison = this.#compare(shape, statement, use)
    const end = () => void pending.delete(comparison)
    pending.add(comparison)
    comparison.then(end, end)
    return comparison
  }

  async #compare(shape: Shape, statement: Statement, use: 'read' | 'cached'): Promise<void> {
    const description = await this.#described(statement.text)
    if (!description) return
    const faults = columnFaults(shape, description)
    if (use === 'cached' && description.changing.length > 0)
      faults.push(`${description.changing.join(', ')} must not be called by a statement whose rows are cached`)
    if (faults.length > 0) throw new StatementFault(faults, statement)
  }

  rows(shape: Shape, statement: Statement, rows: readonly object[]): void {
    const columns = Object.entries(shape)
    for (const row of rows)
      for (const [name, kind] of columns) {
        const fault = valueFault(kind, (row as Record<string, unknown>)[name])
        if (fault) throw new StatementFault([`column ${name} is ${kind.name}, and a row has ${fault} in it`], statement)
      }
  }

  freeze(row: object): void {
    // Bytes cannot be frozen.
    for (const value of Object.values(row))
      if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) this.freeze(value as object)
    Object.freeze(row)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#describer)?.[Symbol.asyncDispose]()
  }

  #described(text: string): Promise<Description | undefined> {
    const known = described.get(text)
    if (known) return known
    const asked = this.#describe(text).catch((error: object) => {
      if (!isPassing(error)) throw error
      described.delete(text)
      return undefined
    })
    described.set(text, asked)
    return asked
  }

  async #describe(text: string): Promise<Description> {
    const shared = readDescription(text)
    if (shared) return shared
    // Processes without statements, such as the git runner, need no driver.
    this.#describer ??= import('./describe.ts').then(({ Describer }) => new Describer(this.#url))
    const description = await (await this.#describer).describe(text)
    writeDescription(text, description)
    return description
  }
}

function columnFaults(shape: Shape, { columns }: Description): string[] {
  const names = columns.map(({ name }) => name)
  return [
    ...Object.keys(shape).flatMap((name) =>
      names.includes(name) || shape[name]!.optional ? [] : [`there is no column ${name}`],
    ),
    ...columns.flatMap(({ name, type, nulls }, index) => {
      const kind = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (!kind) return [`the shape has no column ${name}`]
      if (names.indexOf(name) < index) return [`two columns are named ${name}`]
      if (kind.types.length > 0 && !kind.types.includes(type))
        return [`column ${name} is not ${kind.name}: its type has the OID ${type}`]
      if (nulls === 'possible' && kind.nulls === 'refused')
        return [`column ${name} can be null, and is declared ${kind.name}`]
      return []
    }),
  ]
}

function valueFault({ nulls, values, name }: Kind<unknown>, value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (value === null) return nulls === 'allowed' ? undefined : 'a null'
  if (values && !values.has(value)) return JSON.stringify(value)
  return name.startsWith('listOf') && (value as unknown[]).includes(null) ? 'a null' : undefined
}
