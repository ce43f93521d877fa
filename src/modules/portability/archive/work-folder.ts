import { mkdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { longAgo } from '../../../kernel/clock.ts'
import { missingAs, namesIn } from '../../../kernel/missing.ts'

const rootOf = ({ repositoriesDir }: Pick<Ctx, 'repositoriesDir'>): string =>
  join(dirname(repositoriesDir), 'tmp', 'archives')

/** Runs `work` with an empty folder that is removed afterwards. `name` is the same for each run of a job, which removes what a killed run left. */
export async function inWorkFolder<T>(ctx: Ctx, name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(rootOf(ctx), name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Removes what a run left that was killed when its work was done. */
export const removeWorkFolder = (ctx: Ctx, name: string): Promise<void> =>
  rm(join(rootOf(ctx), name), { recursive: true, force: true })

/** Longer than any export or import takes. */
const maxAgeMs = 24 * 60 * 60_000

/** Removes folders of jobs that never ran again. */
export async function removeOldFolders(ctx: Ctx): Promise<void> {
  const before = longAgo(maxAgeMs)
  for (const name of await namesIn(rootOf(ctx))) {
    const path = join(rootOf(ctx), name)
    const found = await stat(path).catch(missingAs(undefined))
    if (found && found.mtime < before) await rm(path, { recursive: true, force: true })
  }
}
