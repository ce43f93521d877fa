import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { Pointer } from '../../../git/objects/pointers.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { claimFiles } from '../large-files/service.ts'
import { openStorage, type Storage } from '../large-files/storage.ts'
import type { Transport } from './queries.ts'

type CheckedPush = {
  readonly ctx: Ctx
  readonly project: ProjectSubject
  readonly transport: Transport
  readonly changes: readonly RefChange[]
}

const missing = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'

/**
 * Which large files a push must have stored before. The push rule reads the new files of a push anyway, and looks for pointers
 * among them, so that `largeFilesRule` need not list them again.
 */
export class LargeFilesCheck {
  readonly #push: CheckedPush
  #storage: Promise<Storage | undefined> | undefined
  #isPassed = false

  constructor(push: CheckedPush) {
    this.#push = push
  }

  /** Whether pointers of the push still have to be looked for. One statement, the first time. */
  async isPending(): Promise<boolean> {
    return !this.#isPassed && (await this.#open()) !== undefined
  }

  /**
   * The reason for refusing pointers: their files are not stored, or have another size, so that no client gets them. Gives a fork those
   * that its source has, as a client that uploads them does, so that it keeps them without the source. At most one statement, and a
   * transaction for a fork.
   */
  async violation(pointers: readonly Pointer[]): Promise<string | undefined> {
    const storage = pointers.length === 0 ? undefined : await this.#open()
    if (!storage) return undefined
    const oids = pointers.map(({ oid }) => oid as Digest)
    const known = await claimFiles(this.#push.ctx, storage, oids)
    if (!oids.every((oid) => known.has(oid))) return missing
    const wrong = pointers.find(({ oid, sizeBytes }) => known.get(oid as Digest) !== sizeBytes)
    return (
      wrong &&
      `The LFS object ${wrong.oid} has ${known.get(wrong.oid as Digest)} bytes, and a pointer to it says ${wrong.sizeBytes}.`
    )
  }

  /** The files of all pointers of the push are stored. */
  pass(): void {
    this.#isPassed = true
  }

  #open(): Promise<Storage | undefined> {
    this.#storage ??= this.#find()
    return this.#storage
  }

  /** `undefined` if nothing is checked. */
  async #find(): Promise<Storage | undefined> {
    const { ctx, project, transport, changes } = this.#push
    const overGit = transport === 'http' || transport === 'ssh'
    if (!overGit || !ctx.settings.lfs_enabled || changes.every(({ to }) => to === null)) return undefined
    const storage = await openStorage(ctx, project)
    return storage.enabled ? storage : undefined
  }
}
