import type { ForgeItem, ForgeRepository } from './items.ts'
import type { Given } from './values.ts'

/** A list of the API of a forge. */
export type Resource = {
  /** Names its files, so it has lower case letters, digits and hyphens only. */
  readonly name: string
  /** Path and query below the repository; an absolute path (with `/`) is one below the API. */
  readonly path: string
  /** The kind of its items in reports. */
  readonly kind: string
  /** An item, none for an object that belongs to another list, or `LeftOut`. */
  readonly read: (given: Given) => ForgeItem | undefined
  /** The answer is one object. */
  readonly single?: true
}

/** What an import may be asked for beyond the default. */
export type Stages = { readonly singleEndpointNotes: boolean; readonly people: boolean }

/** What differs between kinds of forges. */
export type Adapter = {
  readonly title: string
  /** Below the address of the forge. */
  readonly apiOf: (forgeUrl: URL) => string
  readonly headers: Readonly<Record<string, string>>
  readonly authorization: (token: string) => string
  readonly readRepository: (given: Given) => ForgeRepository | undefined
  /** Lists of a repository, in the order in which they are read. */
  readonly resources: (stages: Stages) => readonly Resource[]
  /** Lists that belong to an item. */
  readonly resourcesOf: (item: ForgeItem, stages: Stages) => readonly Resource[]
  /** Where more is known of a user; undefined if users are complete in every list. */
  readonly person?: (username: string) => Resource
}
