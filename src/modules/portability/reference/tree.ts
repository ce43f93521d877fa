import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import * as entries from '../layout/names.ts'
import { jsonOf } from '../records/json.ts'
import { recordsIn } from '../records/read-records.ts'
import { isObject, type Nested } from './values.ts'

/** The top level of an archive of the reference product, with each relation as a stream. */
export type ReferenceTree = {
  readonly project: Nested
  /** Names that it has, of attributes too. */
  readonly names: readonly string[]
  of(name: string): AsyncIterable<Nested>
}

/** The older layout is one JSON object, which is parsed in memory. */
export const maxJsonBytes = 64 * 1024 * 1024
const jsonEntry = 'project.json'

/** The tree of an archive of the reference product, in one of its layouts; undefined if it has none. */
export async function referenceTree(unpacked: Unpacked): Promise<ReferenceTree | undefined> {
  const whole = unpacked.get(jsonEntry)
  if (whole) {
    if (whole.size > maxJsonBytes)
      throw new ArchiveRefusal(
        `${jsonEntry} is larger than ${maxJsonBytes} bytes: export with the later layout, a line per record`,
      )
    const project = await jsonOf(whole, jsonEntry, maxJsonBytes)
    return { project, names: Object.keys(project), of: (name) => inMemory(project[name]) }
  }
  const file = unpacked.get(entries.projectEntry)
  if (!file) return undefined
  const project = await jsonOf(file, entries.projectEntry)
  const names = [...unpacked.keys()].flatMap((name) => /^tree\/project\/([^/]+)\.ndjson$/.exec(name)?.[1] ?? [])
  return {
    project,
    names,
    async *of(name) {
      const lines = unpacked.get(entries.relationEntry(name))
      if (lines) for await (const { record } of recordsIn(lines.path, name)) yield record
    },
  }
}

async function* inMemory(value: unknown): AsyncGenerator<Nested> {
  for (const each of Array.isArray(value) ? value : [value]) if (isObject(each)) yield each
}
