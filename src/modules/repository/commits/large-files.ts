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
import { Failure } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { linkFrom, openStorage, storeFile } from '../../pushes/index.ts'

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
   * The pointer to commit instead of a content; the content itself if it is not a large file, or is a pointer already.
   */
  readonly pointerTo = (path: string, content: Buffer): Buffer => {
    if (this.#attributes.filterOf(path) !== 'lfs' || parsePointer(content.toString('utf8', 0, 1024))) return content
    const oid = hash('sha256', content) as Digest
    this.#contents.set(oid, content)
    return Buffer.from(pointerText({ oid, sizeBytes: content.length }))
  }

  /** Adds the files to the project. Call it before the commit, so that pointers never lack their files. */
  async store(): Promise<void> {
    for (const [oid, content] of this.#contents)
      await storeFile(this.#ctx, this.#project.id, { oid, size: content.length }, Readable.from([content]))
  }
}

async function attributesIn(repo: Repository, oid: Oid): Promise<string | undefined> {
  try {
    return (await readBlob(repo, oid, { maxBytes: maxAttributesBytes }))?.content.toString('utf8')
  } catch (error) {
    if (error instanceof Failure && error.kind === 'too_large') return undefined
    throw error
  }
}

/**
 * Gives a project the large files of another one, whose code the caller may read, to which the history of a commit from there points.
 * Call it before a ref reaches the commit. One process.
 */
export async function bringLargeFiles(
  ctx: Ctx,
  project: ProjectSubject,
  repo: Repository,
  { commit, of }: { readonly commit: Oid; readonly of: number },
): Promise<void> {
  if (!ctx.settings.lfs_enabled) return
  for await (const pointers of newPointers(repo, [commit])) {
    const oids = pointers.map(({ oid }) => oid)
    if (oids.length > 0) await ctx.transaction((tx) => linkFrom(tx, of, project.id, oids))
  }
}
