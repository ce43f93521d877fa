import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { mirror } from '../../../git/transfer/mirror.ts'
import { job } from '../../../jobs/job.ts'
import { projectOnBehalf } from '../../projects/index.ts'
import { remoteLimits } from '../remotes/limits.ts'
import { reachRemote } from '../remotes/reach.ts'
import { RemoteRefusal, sentenceFor } from '../remotes/refusal.ts'
import { endInFailure, type Filling, fillRepository } from './fill.ts'
import { urlPurpose } from './purpose.ts'
import { findImport, type ImportRow, stuckImports } from './queries.ts'
import { importRules } from './rules.ts'

const mebibyte = 1024 * 1024
const timeoutMs = 3 * 60 * 60_000
const stuckAfterHours = 15

/** Imports a new project's repository from a URL. */
export const importFromUrl = job({
  name: 'import_from_url',
  slow: true,
  outgoing: true,
  input: Type.Object({
    projectId: Type.Integer(),
    storage: Type.String(),
    defaultBranch: Type.Optional(Type.String({ description: 'Requested default branch, used if it exists' })),
  }),
  key: ({ projectId }) => `import_from_url:${projectId}`,
  async limits({ projectId }, ctx) {
    const pending = await findImport(ctx.db, projectId)
    if (!pending?.sealed_url) return undefined
    const url = ctx.secrets.open(pending.sealed_url, urlPurpose(projectId))
    return remoteLimits('import', { url, userId: pending.actor_id })
  },
  attempts: 10,
  run: ({ defaultBranch, ...place }, ctx) =>
    fillRepository(
      ctx,
      place,
      async (repo, pending) => {
        await requireImporter(ctx, place.projectId, pending.actor_id)
        const fetched = await fetchAll(ctx, place.projectId, repo, pending)
        const branches = fetched.refs.flatMap(({ name }) => branchName(name) ?? [])
        return defaultBranch !== undefined && branches.includes(defaultBranch) ? { ...fetched, defaultBranch } : fetched
      },
      // The fetch may have taken long.
      (_tx, { actor_id }) => requireImporter(ctx, place.projectId, actor_id),
    ),
})

/** Throws `RemoteRefusal` if the user who requested the import may no longer change the project. */
async function requireImporter(ctx: Ctx, projectId: number, actorId: number | null): Promise<void> {
  if (!(await projectOnBehalf(ctx, actorId, projectId, 'admin_project')))
    throw new RemoteRefusal('The importer is no longer allowed to change the project')
}

/** Marks imports as failed that no job will finish. */
export const failStuckImports = job({
  name: 'fail_stuck_imports',
  input: Type.Object({}),
  key: () => 'fail_stuck_imports',
  attempts: 3,
  every: { cron: '50 * * * *', input: {} },
  async run(_input, ctx) {
    for (const projectId of await stuckImports(ctx.db, stuckAfterHours))
      await endInFailure(ctx, projectId, `Import timed out. Import took longer than ${stuckAfterHours * 3600} seconds`)
  },
})

async function fetchAll(
  ctx: Ctx,
  projectId: number,
  repo: Repository,
  { sealed_url: sealed }: ImportRow,
): Promise<Filling> {
  if (sealed === null) throw new Error('the import has no URL')
  const remote = await reachRemote(ctx, ctx.secrets.open(sealed, urlPurpose(projectId)), importRules)
  const maxMegabytes = ctx.settings.max_import_size
  const mirrored = await mirror(repo, remote, {
    timeoutMs,
    maxBytes: maxMegabytes === 0 ? Number.POSITIVE_INFINITY : maxMegabytes * mebibyte,
  })
  if ('failed' in mirrored)
    throw new RemoteRefusal(sentenceFor(mirrored, { what: 'import', remote, timeoutMs, maxMegabytes }))
  return mirrored
}
