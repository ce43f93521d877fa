import { createReadStream } from 'node:fs'
import type { Tx } from '../../../db/db.ts'
import type { Column } from '../../../db/portable/columns.ts'
import { batchOf, type Holder, type PortableRecord, type Relation } from '../../../db/portable/relation.ts'
import { findAdopted, reserveIds, writeRows } from '../../../db/portable/write.ts'
import { LineTooLong, readLines } from '../../../kernel/read-lines.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { People } from './people.ts'

/** A record has one text of eight megabytes at most, of which quoting may make twice as many. */
const maxLineBytes = 18 * 1024 * 1024
/** Maximum bytes of the records of one statement, and one record. */
const maxBatchBytes = 4 * 1024 * 1024
const maxRecords = 10_000_000

/** A record and its line in the file of its relation. */
export type Line = { readonly record: PortableRecord; readonly line: number; readonly bytes: number }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The records of a file of lines. Throws `ArchiveRefusal`. */
export async function* recordsIn(path: string, name: string): AsyncGenerator<Line> {
  try {
    for await (const { bytes, line } of readLines(createReadStream(path), { maxBytes: maxLineBytes })) {
      if (line > maxRecords) throw new ArchiveRefusal(`${name} has more than ${maxRecords} records`)
      yield { record: parseRecord(bytes, `${name}, line ${line}`), line, bytes: bytes.length }
    }
  } catch (error) {
    if (error instanceof LineTooLong) throw new ArchiveRefusal(`${name}: ${error.message}`)
    throw error
  }
}

/** One JSON object. */
export function parseRecord(bytes: Buffer, where: string): PortableRecord {
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(bytes))
  } catch {
    throw new ArchiveRefusal(`${where}: Incorrect JSON format`)
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new ArchiveRefusal(`${where}: it is not a JSON object`)
  return value as PortableRecord
}

/** Checks the values of a record, not what they refer to. Throws `ArchiveRefusal`. */
export function checkRecord(relation: Relation, { record, line }: Pick<Line, 'record' | 'line'>): void {
  for (const [name, column] of Object.entries(relation.columns)) {
    if (column.is === 'value' && column.supplied) continue
    const value = own(record, name)
    const refuse = (why: string): never => {
      throw new ArchiveRefusal(`${relation.name}, line ${line}: ${name} ${why}`)
    }
    if (value === undefined || value === null) {
      if (!isOptional(column)) refuse('is missing')
    } else if (column.is === 'value') {
      if (!column.accepts(value)) refuse('is not valid')
    } else if (column.is === 'person') {
      if (typeof value !== 'string' || value.length > 255 || value.includes('\0') || !value.isWellFormed())
        refuse('is not valid')
    } else if (column.is === 'self') {
      if (typeof value !== 'boolean') refuse('is not valid')
    } else if (!Number.isSafeInteger(value) || (value as number) < 1) refuse('is not valid')
  }
}

/** Own properties only: a record with the key `__proto__` has none of its values. */
const own = (record: PortableRecord, name: string): unknown => (Object.hasOwn(record, name) ? record[name] : undefined)

const isOptional = (column: Column): boolean =>
  column.is === 'self' || column.nullable || (column.is === 'value' && column.fallback !== undefined)

/** What is computed while records are imported. */
export type Importing = {
  readonly tx: Tx
  readonly holder: Holder
  readonly people: People
  /** Ids of imported rows by the lines of their records, for each relation. The line is the index. */
  readonly ids: Map<string, number[]>
  /** Values of columns that are not in the archive; undefined leaves the row out. */
  readonly supply?: (relation: Relation, record: PortableRecord) => Promise<PortableRecord | undefined>
  /** Records of a relation that were left out. */
  readonly leftOut: Map<string, number>
}

/** Inserts the records of a relation, in their order. Constant memory, apart from ids. */
export async function importRecords(
  relation: Relation,
  lines: AsyncIterable<Line>,
  importing: Importing,
): Promise<void> {
  const writer = new Writer(relation, importing)
  for await (const line of lines) {
    checkRecord(relation, line)
    await writer.add(line)
  }
  await writer.flush()
}

class Writer {
  readonly #relation: Relation
  readonly #importing: Importing
  readonly #state = new Map<string, number>()
  readonly #adopted = new Map<string, number>()
  readonly #ids: number[] = []
  #waiting: Line[] = []
  #bytes = 0

  constructor(relation: Relation, importing: Importing) {
    this.#relation = relation
    this.#importing = importing
    importing.ids.set(relation.name, this.#ids)
  }

  async add(line: Line): Promise<void> {
    this.#waiting.push(line)
    this.#bytes += line.bytes
    if (this.#waiting.length >= batchOf(this.#relation) || this.#bytes > maxBatchBytes) await this.flush()
  }

  async flush(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    if (batch.length === 0) return
    const { adopt, hasId, amend } = this.#relation
    const { tx, holder, people, supply } = this.#importing
    if (adopt) {
      const among = batch.filter(({ record }) => adopt.among(record)).map(({ record }) => adopt.key(record))
      for (const [key, id] of await findAdopted(tx, this.#relation, holder, among))
        if (!this.#adopted.has(key)) this.#adopted.set(key, id)
    }
    // A record may refer to an earlier one of the same batch. Ids of records that are left out are not used.
    const ids = hasId ? await reserveIds(tx, this.#relation, batch.length) : []
    const rows: Record<string, unknown>[] = []
    for (const [at, { record, line }] of batch.entries()) {
      const key = adopt?.key(record)
      // A label of a group with the title of one of the project: they become one.
      const taken = key === undefined ? undefined : this.#adopted.get(key)
      if (taken !== undefined) {
        this.#ids[line] = taken
        continue
      }
      const changed = amend
        ? amend(record, {
            line,
            state: this.#state,
            lostName: (username) => people.lostName(username),
            leaveOut: (relation, count) => this.#count(relation, count),
          })
        : record
      const supplied = changed && supply ? await supply(this.#relation, changed) : changed
      const row = supplied && this.#rowOf(supplied, line)
      if (!row) {
        // No row has this id.
        this.#ids[line] = 0
        this.#count()
        continue
      }
      if (hasId) {
        const id = ids[at]!
        this.#ids[line] = id
        row['id'] = id
        if (key !== undefined) this.#adopted.set(key, id)
      }
      rows.push(row)
    }
    if (rows.length > 0) await writeRows(tx, this.#relation, holder, this.#unrepeated(rows))
  }

  /** Without rows that repeat another one, of which a statement can change each once: two people of an archive may be one user. */
  #unrepeated(rows: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
    const { repeats } = this.#relation
    if (repeats === undefined || repeats === 'skip') return rows
    const first = new Map<string, Record<string, unknown>>()
    for (const row of rows) {
      const key = JSON.stringify(repeats.key.map((name) => row[name]))
      if (!first.has(key)) first.set(key, row)
    }
    return [...first.values()]
  }

  #count(leftOutOf = this.#relation.name, count = 1): void {
    const { leftOut } = this.#importing
    leftOut.set(leftOutOf, (leftOut.get(leftOutOf) ?? 0) + count)
  }

  /** Undefined if the row has no meaning without what it refers to. */
  #rowOf(record: PortableRecord, line: number): Record<string, unknown> | undefined {
    const { people, ids, holder } = this.#importing
    const row: Record<string, unknown> = {}
    for (const [name, column] of Object.entries(this.#relation.columns)) {
      const value = own(record, name) ?? (column.is === 'value' ? column.fallback : undefined) ?? null
      if (column.is === 'value') row[name] = value
      else if (column.is === 'self') row[name] = value === true ? holder.id : null
      else if (value === null) row[name] = null
      else if (column.is === 'person') {
        const id = people.idOf(value as string)
        if (id === undefined && column.otherwise === 'skip') return undefined
        row[name] = id ?? (column.otherwise === 'importer' ? people.importerId : null)
      } else {
        const known = ids.get(column.to)
        if (!known || (value as number) >= known.length)
          throw new ArchiveRefusal(
            `${this.#relation.name}, line ${line}: ${name} refers to line ${value} of ${column.to}, which does not exist`,
          )
        const id = known[value as number] || undefined
        // The row it refers to was left out.
        if (id === undefined && column.otherwise === 'skip') return undefined
        row[name] = id ?? null
      }
    }
    return row
  }
}
