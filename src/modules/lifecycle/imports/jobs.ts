import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { type MirrorFailure, mirror } from '../../../git/transfer/mirror.ts'
import { job } from '../../../jobs/job.ts'
import { credentialsOf, type Destination, guardUrl, pinOf } from '../../instance/index.ts'
import { endInFailure, type Filling, fillRepository, ImportRefusal } from './fill.ts'
import { urlPurpose } from './purpose.ts'
import { type ImportRow, stuckImports } from './queries.ts'
import { importRules } from './rules.ts'

const mebibyte = 1024 * 1024
const timeoutMs = 3 * 60 * 60_000
/** Maximum concurrent imports, so that slow servers do not block other jobs. */
const maxConcurrentImports = 2
const stuckAfterHours = 15

/** Imports a new project's repository from a URL. */
export const importFromUrl = job({
  name: 'import_from_url',
  input: Type.Object({
    projectId: Type.Integer(),
    storage: Type.String(),
    defaultBranch: Type.Optional(Type.String({ description: 'Requested default branch, used if it exists' })),
  }),
  key: ({ projectId }) => `import_from_url:${projectId}`,
  queue: ({ projectId }) => `imports:${projectId % maxConcurrentImports}`,
  attempts: 10,
  run: ({ defaultBranch, ...place }, ctx) =>
    fillRepository(ctx, place, async (repo, pending) => {
      const fetched = await fetchAll(ctx, place.projectId, repo, pending)
      const branches = fetched.refs.flatMap(({ name }) => branchName(name) ?? [])
      return defaultBranch !== undefined && branches.includes(defaultBranch) ? { ...fetched, defaultBranch } : fetched
    }),
})

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
  // Checked again, because DNS and settings may have changed since the URL was accepted.
  const destination = await guardUrl(ctx, ctx.secrets.open(sealed, urlPurpose(projectId)), importRules)
  if ('blocked' in destination) throw new ImportRefusal(`The address is blocked: ${destination.blocked}`)
  if (destination.addresses.length === 0) throw new ImportRefusal(`Could not resolve host: ${destination.host}`)
  const limit = ctx.settings.max_import_size
  const mirrored = await mirror(
    repo,
    { url: plainUrl(destination), credentials: credentialsOf(destination.url), pinned: pinOf(ctx, destination) },
    { timeoutMs, maxBytes: limit === 0 ? Number.POSITIVE_INFINITY : limit * mebibyte },
  )
  if ('failed' in mirrored) throw new ImportRefusal(sentenceFor(mirrored, limit))
  return mirrored
}

/** URL with the host as the guard parsed it, without credentials. */
function plainUrl({ scheme, host, port, url }: Destination): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `${scheme}://${name}:${port}${url.pathname}${url.search}`
}

function sentenceFor({ failed, output }: MirrorFailure, limit: number): string {
  if (failed === 'too_large') return `The repository is larger than ${limit} MB.`
  if (failed === 'too_slow') return `The import took longer than ${timeoutMs / 3_600_000} hours.`
  // Git asks for credentials although there is no terminal, so its message is about the prompt.
  if (/askpass|could not read (Username|Password)|Authentication failed/.test(output))
    return 'The other side asks for credentials, and the address has none or others.'
  const lines = output.split('\n').filter((line) => /^(fatal|error|remote):/.test(line))
  return withoutCredentials(lines.join('\n').slice(0, 1000)) || 'The repository could not be read.'
}

/** Git gets no credentials in the URL, but the server may repeat in its messages what it was sent. */
const withoutCredentials = (text: string): string =>
  text.replace(/\/\/[^/\s@]*@/g, '//*****:*****@').replace(/[^\P{C}\n]/gu, '')
