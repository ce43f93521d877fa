import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { FilterAttributes } from '../../../git/format/attributes.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { newPointers, parsePointer, pointerText } from '../../../git/objects/pointers.ts'
import type { TreeEdit } from '../../../git/objects/tree-edit.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { isTooLarge } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { addFiles, linkFrom, openStorage, requireSize, storeBytes } from '../../pushes/index.ts'

/** A longer file has no effect, as git gives none to one of 100 MB. */
const maxAttributesBytes = 1024 * 1024

/** Files that an API commit adds and that `.gitattributes` declares as large files: a pointer is committed instead. */
export class NewLargeFiles {
  readonly #ctx: Ctx
  readonly #project: ProjectSubject
  readonly #attributes: FilterAttributes
  readonly #contents = new Map<Digest, Buffer>()

  private constructor(ctx: Ctx, project: ProjectSubject, attributes: FilterAttributes) {
    this.#ctx = ctx
    this.#project = project
    this.#attributes = attributes
  }

  /**
   * `undefined` if the tree declares no such files or the project disables them. Costs one lookup in the tree for most.
   */
  static async of(
    ctx: Ctx,
    project: ProjectSubject,
    repo: Repository,
    tree: TreeEdit,
  ): Promise<NewLargeFiles | undefined> {
    const entry = await tree.find('.gitattributes')
    if (entry?.oid === undefined || !entry.mode.startsWith('100')) return undefined
    const text = await attributesIn(repo, entry.oid)
    if (!text?.includes('filter=lfs')) return undefined
    if (!ctx.settings.lfs_enabled || !(await openStorage(ctx, project)).enabled) return undefined
    return new NewLargeFiles(ctx, project, new FilterAttributes(text))
  }

  /**
   * The pointer to commit instead of a content; the content itself if it is not a large file, or is a pointer already. Throws
   * `too_large` before anything is stored.
   */
  readonly pointerTo = (path: string, content: Buffer): Buffer => {
    if (this.#attributes.filterOf(path) !== 'lfs' || parsePointer(content.toString('utf8', 0, 1024))) return content
    requireSize(this.#ctx, content.length)
    const oid = hash('sha256', content) as Digest
    this.#contents.set(oid, content)
    return Buffer.from(pointerText({ oid, sizeBytes: content.length }))
  }

  /** Stores the bytes, which belong to no project yet. */
  async store(): Promise<void> {
    for (const [oid, content] of this.#contents)
      await storeBytes(this.#ctx, { oid, size: content.length }, Readable.from([content]))
  }

  /** Adds the stored files to the project. Call it before a ref reaches the commit, so that pointers never lack their files. */
  async link(): Promise<void> {
    const files = [...this.#contents].map(([oid, content]) => ({ oid, size: content.length }))
    if (files.length > 0) await addFiles(this.#ctx, this.#project.id, files)
  }
}

async function attributesIn(repo: Repository, oid: Oid): Promise<string | undefined> {
  try {
    return (await readBlob(repo, oid, { maxBytes: maxAttributesBytes }))?.content.toString('utf8')
  } catch (error) {
    if (isTooLarge(error)) return undefined
    throw error
  }
}

/** Large files to which the history of a commit points, without those that refs reach. One process. */
export async function pointersAt(ctx: Ctx, repo: Repository, commit: Oid): Promise<Digest[]> {
  if (!ctx.settings.lfs_enabled) return []
  const found: Digest[] = []
  for await (const pointers of newPointers(repo, [commit])) for (const { oid } of pointers) found.push(oid as Digest)
  return found
}

/** Maximum files for a transaction, which locks their rows. */
const linkedAtOnce = 1000

/**
 * Gives a project those of the large files that another one has, whose code the caller may read. Call it before a ref reaches a commit from
 * there.
 */
export async function linkLargeFiles(
  ctx: Ctx,
  project: ProjectSubject,
  { oids, of }: { readonly oids: readonly Digest[]; readonly of: number },
): Promise<void> {
  for (let from = 0; from < oids.length; from += linkedAtOnce)
    await ctx.transaction((tx) => linkFrom(tx, of, project.id, oids.slice(from, from + linkedAtOnce)))
}
