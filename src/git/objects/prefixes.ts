import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { wallClockMs } from '../../kernel/clock.ts'
import { isMissing } from '../../kernel/missing.ts'
import type { Oid } from '../format/oid.ts'
import { identityOf, isSettled } from '../repository/file-identity.ts'
import type { Repository } from '../repository/repository.ts'
import { objectInfos } from './cat-file.ts'
import { PackIndex, UnknownIndex } from './pack-index.ts'
import { commitsOfObjects } from './read-object.ts'

/** The commit of a prefix while the facts are the same. */
type Known = { readonly facts: string; readonly commit: Oid | undefined }

/**
 * The commits whose ids begin with texts of at least two hex digits in lower case, in the order of the texts; `undefined` if there is none,
 * or if the ids of several commits, or tags of commits, begin with it. As git resolves abbreviations, except that refs of this name do
 * not matter. One round trip for all ids found; none for a text that no id begins with, or whose commit is cached. The cache is exact
 * in every process: its entries are compared with what the folders of objects are now, which takes a few `stat` calls.
 */
export async function commitsByPrefix(repo: Repository, prefixes: readonly string[]): Promise<(Oid | undefined)[]> {
  const { cache } = repo.git
  const keyOf = (prefix: string) => `${repo.cacheKey}prefix ${prefix}`
  const before = new ObjectFolders(repo)
  const found = new Map<string, Oid | undefined>()
  const unknown: string[] = []
  for (const prefix of new Set(prefixes)) {
    const known = cache.get(keyOf(prefix)) as Known | undefined
    if (known?.facts === before.facts(prefix).text) found.set(prefix, known.commit)
    else unknown.push(prefix)
  }
  if (unknown.length > 0) {
    const readAt = wallClockMs()
    const ids = await before.idsWith(unknown)
    const commits = ids === 'ask' ? await askForCommits(repo, unknown) : await onlyCommits(repo, ids)
    const after = new ObjectFolders(repo)
    for (const [index, prefix] of unknown.entries()) {
      const commit = commits[index]
      found.set(prefix, commit)
      const { text: facts, changedMs } = before.facts(prefix)
      // Folders that changed meanwhile were perhaps read before and after the change.
      const isExact = ids !== 'ask' && isSettled(changedMs, readAt) && after.facts(prefix).text === facts
      if (isExact) cache.set(keyOf(prefix), { facts, commit } satisfies Known, { size: 2 * facts.length + 300 })
    }
  }
  return prefixes.map((prefix) => found.get(prefix))
}

/** Git maps indexes into memory, so it searches more packs faster. */
const maxPacks = 100

/** What a folder contains is the same as long as its facts are. */
type Facts = { readonly text: string; readonly changedMs: number }

/** The folders with the objects of a repository, as they are when first looked at. */
class ObjectFolders {
  readonly #folder: string
  readonly #alternates: Facts
  readonly #packs: Facts
  readonly #loose = new Map<string, Facts>()

  constructor({ objectDir }: Repository) {
    this.#folder = objectDir
    this.#alternates = this.#factsOf('info/alternates')
    this.#packs = this.#factsOf('pack')
  }

  /** The facts of the folders that contain an object whose id begins with `prefix`. */
  facts(prefix: string): Facts {
    const byte = prefix.slice(0, 2)
    const known = this.#loose.get(byte)
    if (known) return known
    const loose = this.#factsOf(byte)
    const facts = {
      text: `${loose.text} ${this.#packs.text} ${this.#alternates.text}`,
      changedMs: Math.max(loose.changedMs, this.#packs.changedMs, this.#alternates.changedMs),
    }
    this.#loose.set(byte, facts)
    return facts
  }

  /** The ids of objects that begin with each prefix, each once; `'ask'` if only git can tell. */
  async idsWith(prefixes: readonly string[]): Promise<readonly (readonly Oid[])[] | 'ask'> {
    if (this.#alternates.text !== absent.text) return 'ask'
    const found = prefixes.map((prefix) => new Set(this.#looseIdsWith(prefix)))
    const indexes = this.#namesIn('pack').filter((name) => name.endsWith('.idx'))
    if (indexes.length > maxPacks) return 'ask'
    for (const name of indexes) {
      try {
        using index = new PackIndex(join(this.#folder, 'pack', name))
        for (const [at, prefix] of prefixes.entries()) for (const id of index.idsWith(prefix)) found[at]!.add(id)
      } catch (error) {
        if (error instanceof UnknownIndex) return 'ask'
        // Its objects are in another pack now, or loose.
        if (isMissing(error)) return 'ask'
        throw error
      }
      await turn()
    }
    return found.map((ids) => [...ids])
  }

  #looseIdsWith(prefix: string): Oid[] {
    const byte = prefix.slice(0, 2)
    const rest = prefix.slice(2)
    const names = this.#namesIn(byte).filter((name) => name.startsWith(rest) && /^[0-9a-f]{38}$/.test(name))
    return names.map((name) => `${byte}${name}` as Oid)
  }

  #namesIn(name: string): string[] {
    try {
      return readdirSync(join(this.#folder, name))
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  #factsOf(name: string): Facts {
    const found = statSync(`${this.#folder}/${name}`, { throwIfNoEntry: false })
    if (!found) return absent
    const { mtimeMs, ctimeMs } = found
    return { text: `${identityOf(found)} ${ctimeMs}`, changedMs: Math.max(mtimeMs, ctimeMs) }
  }
}

/** No object is in a folder that does not exist, whenever it is looked at. */
const absent: Facts = { text: '-', changedMs: 0 }

/** The commit among the ids of each list, unless another commit, or a tag of one, is in the list. One round trip; none without ids. */
async function onlyCommits(
  repo: Repository,
  lists: readonly (readonly Oid[])[],
): Promise<readonly (Oid | undefined)[]> {
  const asked = lists.flat()
  if (asked.length === 0) return lists.map(() => undefined)
  const commits = await commitsOfObjects(repo, asked)
  const commitOf = new Map(asked.map((id, index) => [id, commits[index]]))
  return lists.map((ids) => {
    const [only, ...others] = ids.filter((id) => commitOf.get(id))
    return only && others.length === 0 && commitOf.get(only) === only ? only : undefined
  })
}

/** The answers of git, without those that are about refs. */
async function askForCommits(repo: Repository, prefixes: readonly string[]): Promise<readonly (Oid | undefined)[]> {
  const infos = await objectInfos(
    await repo.objects(),
    prefixes.map((prefix) => `${prefix}^{commit}`),
  )
  return prefixes.map((prefix, index) => {
    const oid = infos[index]?.oid
    return oid?.startsWith(prefix) ? oid : undefined
  })
}
