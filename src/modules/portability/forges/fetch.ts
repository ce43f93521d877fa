import type { Ctx } from '../../../api/ctx.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import { listRefs, type Ref } from '../../../git/refs/refs.ts'
import { updateRefs } from '../../../git/refs/update-refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { repositorySize } from '../../../git/transfer/maintenance.ts'
import { mirror } from '../../../git/transfer/mirror.ts'
import { withoutTrailing } from '../../../kernel/without-ends.ts'
import { importRules, isPermanent, reachRemote, sentenceFor } from '../../lifecycle/index.ts'
import { initialBranch, projectRepositoryDir } from '../../projects/index.ts'
import { insertUnheld } from '../../pushes/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import { archiveLimit } from '../imports/limit.ts'
import type { Unheld } from '../imports/repositories.ts'
import { type Access, ForgeBusy } from './client.ts'

const timeoutMs = 3 * 60 * 60_000
const mebibyte = 1024 * 1024

/** Heads of pull requests, which have the refs of merge requests here. */
const pullHeads = '+refs/pull/*/head:refs/merge-requests/*/head'

export type Fetched = { readonly refs: readonly Ref[]; readonly defaultBranch: string | undefined }

/**
 * Fetches branches, tags and heads of pull requests. Throws `ForgeBusy` if another attempt may succeed, else `ArchiveRefusal`. The address is that of the forge, never one that
 * an answer names.
 */
export async function fetchCode(
  ctx: Ctx,
  repo: Repository,
  access: Access,
  repository: string,
  { suffix = '.git', withPulls = true } = {},
): Promise<Fetched> {
  const { forgeUrl, token } = access
  const url = new URL(`${withoutTrailing(forgeUrl.pathname, '/')}/${repository}${suffix}`, forgeUrl)
  // Both kinds of forges take the password for a token with this name.
  url.username = 'x-oauth-basic'
  url.password = token
  const remote = await reachRemote(ctx, url.href, importRules)
  const maxBytes = archiveLimit(ctx.settings)
  const limits = { timeoutMs, maxBytes: maxBytes === Number.MAX_SAFE_INTEGER ? Number.POSITIVE_INFINITY : maxBytes }
  const mirrored = await mirror(repo, remote, limits, withPulls ? [pullHeads] : [])
  if ('failed' in mirrored) {
    const reason = sentenceFor(mirrored, { what: 'import', remote, timeoutMs, maxMegabytes: maxBytes / mebibyte })
    throw isPermanent(mirrored) ? new ArchiveRefusal(reason) : new ForgeBusy(reason)
  }
  return withPulls ? { ...mirrored, refs: [...mirrored.refs, ...(await ownHeads(repo))] } : mirrored
}

/** The heads of merge requests. Removes refs that no merge request can have. */
async function ownHeads(repo: Repository): Promise<readonly Ref[]> {
  const refs = await listRefs(repo, 'refs/merge-requests/')
  const foreign = refs.filter(
    ({ name, type }) => !/^refs\/merge-requests\/[1-9]\d{0,9}\/head$/.test(name) || type !== 'commit',
  )
  for (let at = 0; at < foreign.length; at += refsAtOnce)
    await updateRefs(
      repo,
      foreign.slice(at, at + refsAtOnce).map(({ name }) => ({ name, to: null })),
    )
  const gone = new Set(foreign)
  return refs.filter((ref) => !gone.has(ref))
}

const refsAtOnce = 400

/** The wiki in a repository that has no holder yet; undefined if there is none. */
export async function fetchWiki(ctx: Ctx, access: Access, repository: string): Promise<Unheld | undefined> {
  const row = await insertUnheld(ctx.db, 'project_wiki')
  const dir = projectRepositoryDir(ctx, row)
  await ctx.git.ensureRepository(dir, { defaultBranch: initialBranch, key: row.repository_key })
  const repo = ctx.git.open(dir, row.repository_key)
  const { refs, defaultBranch } = await fetchCode(ctx, repo, access, repository, {
    suffix: '.wiki.git',
    withPulls: false,
  })
  const branches = refs.flatMap(({ name }) => branchName(name) ?? [])
  const main = [defaultBranch, 'master', 'main', ...branches].find(
    (each) => each !== undefined && branches.includes(each),
  )
  if (main === undefined) return undefined
  await setDefaultBranch(repo, main)
  return { id: row.id, defaultBranch: main, size: await repositorySize(repo.gitDir) }
}
