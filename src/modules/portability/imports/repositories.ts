import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchName, branchRef } from '../../../git/format/ref-name.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import type { Ref, RefTip } from '../../../git/refs/refs.ts'
import { updateRefs } from '../../../git/refs/update-refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { BundleRefusal, headOfBundle, requireComplete, unbundle } from '../../../git/transfer/bundle.ts'
import { repositorySize } from '../../../git/transfer/maintenance.ts'
import { Failure } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { initialBranch, projectRepositoryDir } from '../../projects/index.ts'
import {
  holdRepository,
  insertUnheld,
  type SideHolder,
  type SideKindName,
  type SideRepository,
} from '../../pushes/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import * as entries from '../layout/names.ts'
import { mergeRequestRelation } from '../layout/relations.ts'
import type { SnippetFile } from '../reference/snippets.ts'
import type { RecordSource } from './own-records.ts'
import { commitSnippetFile } from './snippet-file.ts'

const limits = { refs: 500_000 }
const mebibyte = 1024 * 1024

const refusing =
  (name: string) =>
  (error: unknown): never => {
    throw error instanceof BundleRefusal ? new ArchiveRefusal(`${name}: ${error.message}`) : error
  }

/** Fills an empty repository from a bundle of the archive; no refs without one. Throws `ArchiveRefusal`. */
export async function fillFromBundle(
  ctx: Ctx,
  repo: Repository,
  unpacked: Unpacked,
  name: string,
): Promise<readonly Ref[]> {
  const file = unpacked.get(name)
  if (!file) return []
  const refs = await unbundle(repo, file.path, limits).catch(refusing(name))
  const limit = ctx.settings.repository_size_limit
  if (limit > 0 && planOffers(ctx.plan, 'premium') && (await repositorySize(repo.gitDir)) > limit * mebibyte)
    throw new ArchiveRefusal(`${name}: The repository is larger than the limit of ${limit} MB`)
  return refs
}

/** The branch whose commit is that of `HEAD` in a bundle that was accepted; undefined if none has. */
export async function mainBranchOf(
  unpacked: Unpacked,
  name: string,
  refs: readonly RefTip[],
): Promise<string | undefined> {
  const file = unpacked.get(name)
  const head = file && (await headOfBundle(file.path, limits))
  const branches = refs.flatMap(({ name, oid }) => (oid === head ? (branchName(name) ?? []) : []))
  return ['master', 'main', ...branches].find((branch) => branches.includes(branch))
}

/** A filled repository of a wiki or snippet that has no holder yet. */
export type Unheld = { readonly id: number; readonly defaultBranch: string | null; readonly size: number }

/** A repository that was filled is not there any more, because the import took too long: another attempt may succeed. */
export class LostRepository extends Error {
  override name = 'LostRepository'
}

/** Gives a filled repository its holder. Throws `LostRepository`. */
export async function hold(tx: Tx, unheld: Unheld, holder: SideHolder): Promise<void> {
  if (!(await holdRepository(tx, unheld.id, holder, unheld))) throw new LostRepository()
}

/** Fills the repository of a wiki or snippet. If the import ends before it has a holder, a job deletes it. */
export async function fillSide(
  ctx: Ctx,
  kind: SideKindName,
  unpacked: Unpacked,
  name: string,
): Promise<Unheld | undefined> {
  if (!unpacked.has(name)) return undefined
  const { row, repo } = await makeUnheld(ctx, kind)
  const refs = await fillFromBundle(ctx, repo, unpacked, name)
  const branches = refs.flatMap((ref) => branchName(ref.name) ?? [])
  const usual = ['master', 'main', ...branches].find((branch) => branches.includes(branch))
  const defaultBranch = (await mainBranchOf(unpacked, name, refs)) ?? usual ?? null
  if (defaultBranch !== null) await setDefaultBranch(repo, defaultBranch)
  return { id: row.id, defaultBranch, size: await repositorySize(repo.gitDir) }
}

async function makeUnheld(ctx: Ctx, kind: SideKindName): Promise<{ row: SideRepository; repo: Repository }> {
  const row = await insertUnheld(ctx.db, kind)
  const dir = projectRepositoryDir(ctx, row)
  await ctx.git.ensureRepository(dir, { defaultBranch: initialBranch, key: row.repository_key })
  return { row, repo: ctx.git.open(dir, row.repository_key) }
}

/** Fills the repository of a snippet with its only file. */
async function fillSnippet(ctx: Ctx, importer: Ctx, file: SnippetFile): Promise<Unheld> {
  const { row, repo } = await makeUnheld(ctx, 'snippet')
  await commitSnippetFile(importer, repo, file)
  return { id: row.id, defaultBranch: initialBranch, size: await repositorySize(repo.gitDir) }
}

export type SideRepositories = {
  readonly wiki: Unheld | undefined
  /** By the lines of their records. */
  readonly snippets: ReadonlyMap<number, Unheld>
}

/** Fills a repository for each bundle whose name matches; by the lines of their records, which the first group of `names` finds. */
async function fillByLine(
  ctx: Ctx,
  kind: SideKindName,
  unpacked: Unpacked,
  names: RegExp,
): Promise<Map<number, Unheld>> {
  const found = new Map<number, Unheld>()
  for (const name of unpacked.keys()) {
    const line = names.exec(name)?.[1]
    const filled = line === undefined ? undefined : await fillSide(ctx, kind, unpacked, name)
    if (filled) found.set(Number(line), filled)
  }
  return found
}

/** Fills the repositories of the wikis of groups; by the lines of the groups. */
export const fillGroupWikis = (ctx: Ctx, unpacked: Unpacked): Promise<ReadonlyMap<number, Unheld>> =>
  fillByLine(ctx, 'group_wiki', unpacked, /^wikis\/([1-9][0-9]{0,8})\.bundle$/)

/** Fills the repositories of the wiki and of all snippets. `files` are snippets without a bundle, which the importer commits. */
export async function fillSides(
  ctx: Ctx,
  unpacked: Unpacked,
  { importer, files }: { readonly importer: Ctx; readonly files: ReadonlyMap<number, SnippetFile> },
): Promise<SideRepositories> {
  const wiki = await fillSide(ctx, 'project_wiki', unpacked, entries.wikiEntry)
  const snippets = await fillByLine(ctx, 'snippet', unpacked, /^snippets\/([1-9][0-9]{0,8})\.bundle$/)
  for (const [line, file] of files) snippets.set(line, await fillSnippet(ctx, importer, file))
  return { wiki, snippets }
}

/**
 * Creates the branches that open merge requests from forks lack in the project, at their heads. A name that collides with another
 * branch gets none. `heads` has commits of merge requests without a ref, by their numbers. Returns all refs. Throws `ArchiveRefusal`.
 */
export async function withBranchesOfForks(
  repo: Repository,
  refs: readonly Ref[],
  records: RecordSource,
  heads: ReadonlyMap<unknown, readonly Oid[]> = new Map(),
): Promise<readonly RefTip[]> {
  const lines = records.of(mergeRequestRelation)
  if (!lines || refs.length === 0) return refs
  const tips = new Map<string, Oid>(refs.map(({ name, oid }) => [name, oid]))
  const made: RefTip[] = []
  let isWithoutRef = false
  for await (const { record } of lines) {
    if (record['state'] !== 'opened' || record['own_source'] === true) continue
    const name = branchRef(String(record['source_branch']))
    if (!name || tips.has(name)) continue
    const known = tips.get(`refs/merge-requests/${record['iid']}/head`)
    const head = known ?? (await firstCommit(repo, heads.get(record['iid']) ?? []))
    if (!head) continue
    const created = await updateRefs(repo, [{ name, to: head, from: 'absent' }]).catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'conflict') return 'stale'
      throw error
    })
    if (created === 'stale') continue
    tips.set(name, head)
    made.push({ name, oid: head })
    if (!known) isWithoutRef = true
  }
  if (isWithoutRef) await requireComplete(repo).catch(refusing(entries.bundleEntry))
  return [...refs, ...made]
}

/** The first of them that is in the repository. */
async function firstCommit(repo: Repository, oids: readonly Oid[]): Promise<Oid | undefined> {
  for (const oid of oids) if (await readCommit(repo, oid)) return oid
  return undefined
}
