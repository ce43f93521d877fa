import { join } from 'node:path'
import type { PortableRecord } from '../../../db/portable/relation.ts'
import type { RecordSource } from '../imports/own-records.ts'
import { recordsIn } from '../records/read-records.ts'
import { LineFile } from '../records/write-records.ts'

/** Files of records that are written, by the names of their relations. The relations can be written in any order. */
export class RecordFiles {
  readonly #folder: string
  readonly #files = new Map<string, LineFile>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Adds a record; returns its line, by which others refer to it. */
  async add(relation: string, record: PortableRecord): Promise<number> {
    let file = this.#files.get(relation)
    if (!file) {
      file = new LineFile(join(this.#folder, relation))
      this.#files.set(relation, file)
    }
    await file.add([JSON.stringify(record)])
    return file.lines
  }

  /** The records, once all are added. */
  source(): RecordSource {
    const files = this.#files
    return {
      of({ name }) {
        const file = files.get(name)
        return file && recordsIn(file.path, name)
      },
    }
  }
}
