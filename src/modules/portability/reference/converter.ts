import { join } from 'node:path'
import type { Relation } from '../../../db/portable/relation.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked, UnpackedFile } from '../archive/unpack.ts'
import { personText } from '../records/people.ts'
import { checkRecord } from '../records/read-records.ts'
import { LineFile } from '../records/write-records.ts'
import { hexOf, type Nested } from './values.ts'

/** Records of a relation that wait to be written together. */
const together = 200

/**
 * Writes records of the reference product as records of ours: flat files, in which references are lines. A record that does not conform
 * is left out with everything that belongs to it, and counted.
 */
export class Converter {
  readonly #folder: string
  readonly #relations: ReadonlyMap<string, Relation>
  readonly #files = new Map<string, { file: LineFile; waiting: string[]; lines: number }>()
  readonly #people = new Map<string, object>()
  readonly leftOut = new Map<string, number>()
  /** User names by the ids of the other installation. */
  readonly usernames = new Map<unknown, string>()

  constructor(folder: string, relations: readonly Relation[]) {
    this.#folder = folder
    this.#relations = new Map(relations.map((relation) => [relation.name, relation]))
  }

  /** Adds a record of ours. Returns its line; undefined if it does not conform. */
  async add(name: string, record: Nested): Promise<number | undefined> {
    const relation = this.#relations.get(name)
    if (!relation) return undefined
    const present = Object.fromEntries(
      Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
    )
    try {
      checkRecord(relation, { record: present, line: 1 })
    } catch (error) {
      if (!(error instanceof ArchiveRefusal)) throw error
      this.leaveOut(name)
      return undefined
    }
    const open = this.#files.get(name) ?? {
      file: new LineFile(join(this.#folder, `converted-${name}`)),
      waiting: [],
      lines: 0,
    }
    this.#files.set(name, open)
    open.waiting.push(JSON.stringify(present))
    open.lines++
    if (open.waiting.length >= together) await open.file.add(open.waiting.splice(0))
    return open.lines
  }

  /** Whether the importer may import such records. */
  takes(name: string): boolean {
    return this.#relations.has(name)
  }

  leaveOut(name: string, count = 1): void {
    if (count > 0) this.leftOut.set(name, (this.leftOut.get(name) ?? 0) + count)
  }

  addPerson(
    id: unknown,
    person: { readonly username: string; readonly name: string; readonly email?: string | undefined },
  ): void {
    // Without an id no other record refers to them.
    if (Number.isSafeInteger(id)) this.usernames.set(id, person.username)
    this.#people.set(person.username, person)
  }

  /** The user name of an id. One who is no member gets a name that no user has, so that the importer takes their place. */
  userOf(id: unknown, name?: unknown): string | undefined {
    return Number.isSafeInteger(id) ? (this.usernames.get(id) ?? this.#unknownPerson(id, name)) : undefined
  }

  /** The same of who wrote or did something, also if the account was deleted: nothing is left out for that. */
  authorOf(id: unknown, name?: unknown): string {
    return this.userOf(id, name) ?? this.#unknownPerson(typeof name === 'string' ? hexOf(name) : '', name)
  }

  #unknownPerson(id: unknown, name: unknown): string {
    const shown = typeof name === 'string' && personText.accepts(name) ? name : undefined
    const username = `#${id}`
    // A later note may know the name.
    if (shown !== undefined || !this.#people.has(username))
      this.#people.set(username, { username, name: shown ?? 'a former user' })
    return username
  }

  /** The files, by the names of their entries in an archive of ours. */
  async finish(entryOf: (name: string) => string): Promise<Unpacked> {
    const made = new Map<string, UnpackedFile>()
    for (const [name, { file, waiting }] of this.#files) {
      await file.add(waiting)
      made.set(entryOf(name), { path: file.path, size: file.bytes })
    }
    const people = new LineFile(join(this.#folder, 'converted-users'))
    await people.add([...this.#people.values()].map((person) => JSON.stringify(person)))
    if (people.lines > 0) made.set(entryOf('users'), { path: people.path, size: people.bytes })
    return made
  }
}
