import { words } from '../../../db/portable/columns.ts'

/** A name or an address of a person: as many characters as those of users may have. */
export const personText = words(255)

/** A person of an archive. */
export type Person = { readonly username: string; readonly name: string; readonly email: string | null }

/** Which users of this installation the people of an archive are. */
export class People {
  readonly #people: ReadonlyMap<string, Person>
  readonly #ids: ReadonlyMap<string, number>
  /** The importer takes the place of those who are not found. */
  readonly importerId: number

  constructor(people: readonly Person[], ids: ReadonlyMap<string, number>, importerId: number) {
    this.#people = new Map(people.map((person) => [person.username, person]))
    this.#ids = ids
    this.importerId = importerId
  }

  idOf(username: string): number | undefined {
    return this.#ids.get(username)
  }

  /** The name of one who is not found, to show; undefined if the user was found. */
  lostName(username: string): string | undefined {
    if (this.#ids.has(username)) return undefined
    return this.#people.get(username)?.name || username
  }
}
