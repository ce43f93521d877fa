import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../../../db/db.ts'
import type { Column } from '../../../db/portable/columns.ts'
import { type ReadRow, readRelation } from '../../../db/portable/read.ts'
import type { Holder, Relation } from '../../../db/portable/relation.ts'

/**
 * A new file of lines, which exists from the first line on. It is open only during a write, so that work that fails leaves no descriptor, and an
 * error, such as a full disk, always rejects a write.
 */
export class LineFile {
  readonly path: string
  bytes = 0
  lines = 0

  constructor(path: string) {
    this.path = path
  }

  async add(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const chunk = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    const flag = this.lines === 0 ? 'wx' : 'a'
    this.bytes += chunk.length
    this.lines += lines.length
    await appendFile(this.path, chunk, { flag, mode: 0o600 })
  }
}

/** The lines of records by the ids of their rows. */
export type LinesById = ReadonlyMap<string, ReadonlyMap<number, number>>

/** What was written of the relations. */
export type WrittenRecords = {
  /** Files by the names of their relations; none for a relation without rows. */
  readonly files: ReadonlyMap<string, { readonly path: string; readonly size: number }>
  /** User names that the records have. */
  readonly people: ReadonlySet<string>
  readonly lines: LinesById
}

/**
 * Writes the rows of relations as records: a file of lines each, in the order of the relations. `seen` gets each row with the line of
 * its record. Constant memory, apart from a number for each row that others refer to.
 */
export async function writeRecords(
  db: Db,
  holder: Holder,
  relations: readonly Relation[],
  folder: string,
  {
    seen = () => {},
    known = new Map(),
  }: {
    readonly seen?: (relation: Relation, row: ReadRow, line: number) => void
    /** Lines of records that are written elsewhere. */
    readonly known?: LinesById
  } = {},
): Promise<WrittenRecords> {
  const files = new Map<string, { path: string; size: number }>()
  const people = new Set<string>()
  const lines = new Map<string, ReadonlyMap<number, number>>(known)
  const referred = new Set(
    relations.flatMap(({ columns }) =>
      Object.values(columns).flatMap((each) => (each.is === 'reference' ? [each.to] : [])),
    ),
  )
  for (const relation of relations) {
    const ids = new Map<number, number>()
    // A row may refer to an earlier one.
    lines.set(relation.name, ids)
    const file = new LineFile(join(folder, relation.name))
    for await (const rows of readRelation(db, relation, holder)) {
      const texts: string[] = []
      for (const row of rows) {
        const record = recordOf(relation, row, { people, lines })
        if (!record) continue
        texts.push(JSON.stringify(record))
        const line = file.lines + texts.length
        if (row.id !== undefined && referred.has(relation.name)) ids.set(row.id, line)
        seen(relation, row, line)
      }
      await file.add(texts)
    }
    if (file.lines > 0) files.set(relation.name, { path: file.path, size: file.bytes })
  }
  return { files, people, lines }
}

type Known = { readonly people: Set<string>; readonly lines: LinesById }

/** The record of a row, without nulls; undefined if it refers to a row that is not in the archive. */
function recordOf(relation: Relation, { values }: ReadRow, { people, lines }: Known): object | undefined {
  const record: Record<string, unknown> = {}
  for (const [name, column] of Object.entries(relation.columns)) {
    const value = values[name]
    if (value === null || value === undefined || isSupplied(column)) continue
    if (column.is === 'person') people.add(value as string)
    if (column.is === 'reference') {
      const line = lines.get(column.to)?.get(value as number)
      if (line !== undefined) record[name] = line
      else if (column.otherwise === 'skip') return undefined
      continue
    }
    record[name] = isObject(value) ? sorted(value) : value
  }
  return record
}

const isSupplied = (column: Column): boolean => column.is === 'value' && column.supplied === true

const isObject = (value: unknown): value is object => value !== null && typeof value === 'object'

/** The same JSON with its keys in order. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  )
}
