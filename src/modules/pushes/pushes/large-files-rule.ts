import type { Digest } from '../../../blobs/blob-store.ts'
import { newPointers } from '../../../git/objects/pointers.ts'
import { sizesOf } from '../large-files/service.ts'
import { openStorage } from '../large-files/storage.ts'
import type { PushRule } from './rule.ts'

/**
 * Requires large files to be stored before commits that point to them. Checks pushes through git, at the cost of a
 * process. It skips commits of the API, where the check would cost more than the commit: the API stores large files
 * itself, and a pointer written there by hand only breaks that file. It skips pull mirrors, which have pointers only.
 */
export const largeFilesRule: PushRule = async ({ ctx, project, mode, changes, objects }) => {
  const tips = changes.flatMap(({ to }) => to ?? [])
  if ((mode.transport !== 'http' && mode.transport !== 'ssh') || tips.length === 0 || !ctx.settings.lfs_enabled)
    return undefined
  const storage = await openStorage(ctx, project)
  if (!storage.enabled) return undefined
  for await (const pointers of newPointers(await objects(), tips)) {
    const oids = pointers.map(({ oid }) => oid as Digest)
    const known = oids.length === 0 ? undefined : await sizesOf(ctx, storage, oids)
    if (known && oids.some((oid) => !known.has(oid)))
      return 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'
  }
  return undefined
}
