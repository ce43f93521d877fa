import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { FilterAttributes } from '../../../git/format/attributes.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { parsePointer, pointerText } from '../../../git/objects/pointers.ts'
import type { TreeEdit } from '../../../git/objects/tree-edit.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { openStorage, storeFile } from '../../pushes/index.ts'

const maxAttributesBytes = 1024 * 1024

/** Files that a commit of the API adds and that the branch keeps as large files: what is committed is a pointer. */
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

  /** `undefined` when the tree has no such files or the project has them switched off: one look at the tree for most. */
  static async of(
    ctx: Ctx,
    project: ProjectSubject,
    repo: Repository,
    tree: TreeEdit,
  ): Promise<NewLargeFiles | undefined> {
    const entry = await tree.find('.gitattributes')
    if (entry?.oid === undefined || !entry.mode.startsWith('100')) return undefined
    const text = (await readBlob(repo, entry.oid, { maxBytes: maxAttributesBytes }))?.content.toString('utf8')
    if (!text?.includes('filter=lfs')) return undefined
    if (!ctx.settings.lfs_enabled || !(await openStorage(ctx, project)).enabled) return undefined
    return new NewLargeFiles(ctx, project, new FilterAttributes(text))
  }

  /** The pointer to commit in place of a content, or the content, where that is no large file or a pointer already. */
  readonly pointerTo = (path: string, content: Buffer): Buffer => {
    if (this.#attributes.filterOf(path) !== 'lfs' || parsePointer(content.toString('utf8', 0, 1024))) return content
    const oid = hash('sha256', content) as Digest
    this.#contents.set(oid, content)
    return Buffer.from(pointerText({ oid, sizeBytes: content.length }))
  }

  /** Gives the project the files. Before the commit: pointers come after what they point to. */
  async store(): Promise<void> {
    for (const [oid, content] of this.#contents)
      await storeFile(this.#ctx, this.#project.id, { oid, size: content.length }, Readable.from([content]))
  }
}
