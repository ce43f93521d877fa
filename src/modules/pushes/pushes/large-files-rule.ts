import { pointersOfPush } from '../../../git/transfer/small-push.ts'
import { onNew, type PushRule } from './rule.ts'

/**
 * Requires large files to be stored before commits that point to them. Checks pushes through git; large ones cost a
 * process, unless the push rule has read the files. It skips commits of the API, where the check would cost more than the
 * commit: the API stores large files itself, and a pointer written there by hand only breaks that file. It skips pull mirrors,
 * which have pointers only.
 */
export const largeFilesRule: PushRule = onNew(async ({ largeFiles, changes, objects }) => {
  if (!(await largeFiles.isPending())) return undefined
  const tips = changes.flatMap(({ to }) => to ?? [])
  for await (const pointers of pointersOfPush(await objects(), tips)) {
    const violation = await largeFiles.violation(pointers)
    if (violation !== undefined) return violation
  }
  return undefined
})
