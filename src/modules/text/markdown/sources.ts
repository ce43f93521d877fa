import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { commitsByPrefix } from '../../../git/objects/prefixes.ts'
import type { ReferenceKind } from '../../../markdown/types.ts'
import { type NoteableType, noteableUrl, references, type Within } from '../../discussion/index.ts'
import { openRepository } from '../../projects/index.ts'
import type { Link } from './links.ts'
import {
  findNamedAccounts,
  findNamedEpics,
  findNamedLabels,
  findNamedMilestones,
  findNamedNoteables,
  type InProject,
  type NamedProjectRow,
} from './queries.ts'
import type { Target } from './targets.ts'

/** A target in a project that the caller may see; for users, groups and epics there is none. */
export type Wanted = { readonly target: Target; readonly project: NamedProjectRow | undefined }

/** A link, short as seen from a place. */
export type LinkFrom = (within: Within) => Link

/** The links of targets of some kinds, in their order; undefined for those that do not exist or that the caller may not see. */
export type Source = {
  readonly kinds: readonly ReferenceKind[]
  /** Finds all targets with one statement, whatever their number. */
  readonly find: (ctx: Ctx, wanted: readonly Wanted[]) => Promise<readonly (LinkFrom | undefined)[]>
}

/** The wanted targets in projects, as parameters of a statement. */
const inProjects = (wanted: readonly Wanted[]): InProject[] =>
  wanted.map(({ target: { name, isTitle }, project }) => ({
    projectId: project!.id,
    number: isTitle ? null : Number(name),
    title: isTitle ? name : null,
  }))

/** Puts rows to the places of what was wanted. */
function placed<R extends { readonly place: number }>(
  wanted: readonly Wanted[],
  rows: readonly R[],
  linkOf: (row: R, project: NamedProjectRow) => LinkFrom,
): (LinkFrom | undefined)[] {
  const found: (LinkFrom | undefined)[] = wanted.map(() => undefined)
  for (const row of rows) found[row.place] = linkOf(row, wanted[row.place]!.project!)
  return found
}

const homeOf = ({ site }: Ctx, { full_path }: { readonly full_path: string }): string => `${site.url}/${full_path}`

const noteables = (kind: ReferenceKind, type: NoteableType, noun: string, segment: string): Source => ({
  kinds: [kind],
  async find(ctx, wanted) {
    const rows = await findNamedNoteables(ctx.db, ctx.actor, type, inProjects(wanted))
    return placed(wanted, rows, ({ iid, title }, { id, full_path }) => (within) => ({
      kind: noun,
      href: `${homeOf(ctx, { full_path })}/-/${segment}/${iid}`,
      title,
      short: references(type, { iid, project_id: id, full_path }, within).relative,
    }))
  },
})

const epics: Source = {
  kinds: ['&'],
  async find(ctx, wanted) {
    const names = wanted.map(({ target }) => ({ path: target.path!, number: Number(target.name) }))
    const rows = await findNamedEpics(ctx.db, ctx.actor, names)
    return placed(wanted, rows, ({ iid, title, full_path }) => (within) => ({
      kind: 'epic',
      href: noteableUrl(ctx.site.url, 'Epic', full_path, iid),
      title,
      short: references('Epic', { iid, full_path }, within).relative,
    }))
  },
}

const labels: Source = {
  kinds: ['~'],
  async find(ctx, wanted) {
    const rows = await findNamedLabels(ctx.db, ctx.actor, inProjects(wanted))
    return placed(wanted, rows, ({ title, color, description }, project) => () => ({
      kind: 'label',
      href: `${homeOf(ctx, project)}/-/issues?label_name[]=${encodeURIComponent(title)}`,
      title: description,
      text: title,
      short: title,
      color,
    }))
  },
}

const milestones: Source = {
  kinds: ['%'],
  async find(ctx, wanted) {
    const rows = await findNamedMilestones(ctx.db, ctx.actor, inProjects(wanted))
    return placed(wanted, rows, ({ iid, title, is_of_group, full_path }) => () => ({
      kind: 'milestone',
      href: `${ctx.site.url}/${is_of_group ? 'groups/' : ''}${full_path}/-/milestones/${iid}`,
      text: `%${title}`,
      short: `%${title}`,
    }))
  },
}

const accounts: Source = {
  kinds: ['@'],
  async find(ctx, wanted) {
    const names = wanted.map(({ target }) => target.name)
    const users = ctx.actor !== null || !ctx.settings.restricted_visibility_levels.includes('public')
    const rows = await findNamedAccounts(ctx.db, ctx.actor, names, { users })
    const byName = new Map(rows.map((row) => [row.key, row]))
    return names.map((key) => {
      const row = byName.get(key)
      if (!row) return undefined
      const { kind, path, name } = row
      return () => ({
        kind,
        href: `${ctx.site.url}/${kind === 'group' ? 'groups/' : ''}${path}`,
        title: name,
        short: `@${path}`,
      })
    })
  },
}

/** Maximum hashes that are looked up for one request: each is a search of a repository. */
const maxHashes = 100

/** The commits that hashes of texts mean, by project and hash: for each project one read of its repository at most. */
async function commitsOf(
  ctx: Ctx,
  wanted: readonly Wanted[],
): Promise<(projectId: number, hash: string) => Oid | undefined> {
  const hashes = new Map<NamedProjectRow, Set<string>>()
  let count = 0
  for (const { target, project } of wanted) {
    if (!project?.reads_code) continue
    const asked = hashes.get(project) ?? new Set()
    hashes.set(project, asked)
    for (const hash of target.name.split('..')) if (!asked.has(hash) && count++ < maxHashes) asked.add(hash)
  }
  const found = new Map<string, Oid | undefined>()
  const keyOf = (projectId: number, hash: string) => `${projectId} ${hash}`
  await Promise.all(
    Array.from(hashes, async ([project, asked]) => {
      const names = [...asked]
      try {
        const commits = await commitsByPrefix(openRepository(ctx, project), names)
        for (const [index, name] of names.entries()) found.set(keyOf(project.id, name), commits[index])
      } catch {
        // The text is shown without links to this repository, unless the reader has gone.
        ctx.signal?.throwIfAborted()
      }
    }),
  )
  return (projectId, hash) => found.get(keyOf(projectId, hash))
}

/** Hashes of the repositories whose code the caller may read. No statement. */
const commits: Source = {
  kinds: ['commit', 'range'],
  async find(ctx, wanted) {
    const commitOf = await commitsOf(ctx, wanted)
    return wanted.map(({ target, project }) => {
      if (!project?.reads_code) return undefined
      const hashes = target.name.split('..')
      const oids = hashes.map((hash) => commitOf(project.id, hash))
      if (oids.includes(undefined)) return undefined
      const [from, to] = oids as [Oid, Oid?]
      const home = `${homeOf(ctx, project)}/-`
      const text = hashes.map((hash) => hash.slice(0, 8)).join('...')
      return (within: Within) => ({
        kind: 'commit',
        href: to === undefined ? `${home}/commit/${from}` : `${home}/compare/${from}...${to}`,
        short: within.of === 'project' && within.id === project.id ? text : `${project.full_path}@${text}`,
      })
    })
  },
}

/** What references can lead to. */
export const sources: readonly Source[] = [
  noteables('#', 'Issue', 'issue', 'issues'),
  noteables('!', 'MergeRequest', 'merge-request', 'merge_requests'),
  noteables('$', 'Snippet', 'snippet', 'snippets'),
  epics,
  labels,
  milestones,
  accounts,
  commits,
]
