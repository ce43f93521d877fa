import type { Ctx } from '../../../api/ctx.ts'
import type { Plain } from '../../../api/inputs.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { commitsByPrefix } from '../../../git/objects/prefixes.ts'
import type { ReferenceKind } from '../../../markdown/types.ts'
import { type NoteableType, noteableUrl, references, type Within } from '../../discussion/index.ts'
import { openRepository } from '../../projects/index.ts'
import type { Link } from './links.ts'
import {
  type Found,
  findNamedAccounts,
  findNamedEpics,
  findNamedLabels,
  findNamedMilestones,
  type InProjects,
  type NamedProjectRow,
  noteableFinder,
  rowsOf,
} from './queries.ts'
import type { Target } from './targets.ts'

/** A target in a project that the caller may see; for users, groups and epics there is none. */
export type Wanted = { readonly target: Target; readonly project: NamedProjectRow | undefined }

/** A link, short as seen from a place. */
export type LinkFrom = (within: Within) => Link

/** What was found of targets of some kinds: all of it can be in a key. */
export type FoundTargets = Plain

/** Where targets of some kinds are looked up. */
export type Source<Result extends FoundTargets = FoundTargets> = {
  readonly kinds: readonly ReferenceKind[]
  /** Finds all targets that the caller may see, with one statement, whatever their number. */
  find(ctx: Ctx, wanted: readonly Wanted[]): Promise<Result>
  /** Their links, in the order of what was wanted; undefined for what was not found. Pure. */
  links(wanted: readonly Wanted[], found: Result, siteUrl: string): readonly (LinkFrom | undefined)[]
}

/** Of a statement whose rows have the place of what was wanted. */
const statement = <Row extends { readonly [column: string]: Plain; readonly place: number }>(of: {
  readonly kinds: readonly ReferenceKind[]
  readonly find: (ctx: Ctx, wanted: readonly Wanted[]) => Promise<Found<Row>>
  readonly linkOf: (row: Row, project: NamedProjectRow | undefined, siteUrl: string) => LinkFrom
}): Source<Found<Row>> => ({
  kinds: of.kinds,
  find: of.find,
  links(wanted, found, siteUrl) {
    const links: (LinkFrom | undefined)[] = wanted.map(() => undefined)
    for (const row of rowsOf(found)) links[row.place] = of.linkOf(row, wanted[row.place]!.project, siteUrl)
    return links
  },
})

/** The wanted targets in projects, as parameters of a statement. */
const inProjects = (wanted: readonly Wanted[]): InProjects => ({
  projectIds: wanted.map(({ project }) => project!.id),
  numbers: wanted.map(({ target: { name, isTitle } }) => (isTitle ? null : Number(name))),
  titles: wanted.map(({ target: { name, isTitle } }) => (isTitle ? name : null)),
})

const homeOf = (siteUrl: string, { full_path }: { readonly full_path: string }): string => `${siteUrl}/${full_path}`

function noteables(kind: ReferenceKind, type: NoteableType, noun: string, segment: string): Source {
  const findNamed = noteableFinder(type)
  return statement({
    kinds: [kind],
    find: (ctx, wanted) => findNamed(ctx.db, ctx.actor, inProjects(wanted)),
    linkOf({ iid, title }, project, siteUrl) {
      const { id, full_path } = project!
      return (within) => ({
        kind: noun,
        href: `${homeOf(siteUrl, { full_path })}/-/${segment}/${iid}`,
        title,
        short: references(type, { iid, project_id: id, full_path }, within).relative,
      })
    },
  })
}

const epics = statement({
  kinds: ['&'],
  find: (ctx, wanted) =>
    findNamedEpics(ctx.db, ctx.actor, {
      paths: wanted.map(({ target }) => target.path!),
      numbers: wanted.map(({ target }) => Number(target.name)),
    }),
  linkOf:
    ({ iid, title, full_path }, _, siteUrl) =>
    (within) => ({
      kind: 'epic',
      href: noteableUrl(siteUrl, 'Epic', full_path, iid),
      title,
      short: references('Epic', { iid, full_path }, within).relative,
    }),
})

const labels = statement({
  kinds: ['~'],
  find: (ctx, wanted) => findNamedLabels(ctx.db, ctx.actor, inProjects(wanted)),
  linkOf:
    ({ title, color, description }, project, siteUrl) =>
    () => ({
      kind: 'label',
      href: `${homeOf(siteUrl, project!)}/-/issues?label_name[]=${encodeURIComponent(title)}`,
      title: description,
      text: title,
      short: title,
      color,
    }),
})

const milestones = statement({
  kinds: ['%'],
  find: (ctx, wanted) => findNamedMilestones(ctx.db, ctx.actor, inProjects(wanted)),
  linkOf:
    ({ iid, title, is_of_group, full_path }, _, siteUrl) =>
    () => ({
      kind: 'milestone',
      href: `${siteUrl}/${is_of_group ? 'groups/' : ''}${full_path}/-/milestones/${iid}`,
      text: `%${title}`,
      short: `%${title}`,
    }),
})

const accounts = statement({
  kinds: ['@'],
  find(ctx, wanted) {
    const names = wanted.map(({ target }) => target.name)
    const users = ctx.actor !== null || !ctx.settings.restricted_visibility_levels.includes('public')
    return findNamedAccounts(ctx.db, ctx.actor, names, { users })
  },
  linkOf:
    ({ kind, path, name }, _, siteUrl) =>
    () => ({
      kind,
      href: `${siteUrl}/${kind === 'group' ? 'groups/' : ''}${path}`,
      title: name,
      short: `@${path}`,
    }),
})

/** Maximum hashes that are looked up for one request: each is a search of a repository. */
const maxHashes = 100

/** Hashes that are looked up in a repository, each once. */
type Hashes = { readonly project: NamedProjectRow; readonly hashes: readonly string[] }

const knownHashes = new WeakMap<readonly Wanted[], readonly Hashes[]>()

/** The hashes that targets name, of the repositories whose code the caller may read. Pure, and done once for the same list. */
function hashesOf(wanted: readonly Wanted[]): readonly Hashes[] {
  const before = knownHashes.get(wanted)
  if (before) return before
  const byProject = new Map<NamedProjectRow, Set<string>>()
  let count = 0
  for (const { target, project } of wanted) {
    if (!project?.reads_code) continue
    const asked = byProject.get(project) ?? new Set()
    byProject.set(project, asked)
    for (const hash of target.name.split('..')) if (!asked.has(hash) && count++ < maxHashes) asked.add(hash)
  }
  const made = Array.from(byProject, ([project, asked]) => ({ project, hashes: [...asked] }))
  knownHashes.set(wanted, made)
  return made
}

/** The commits of a repository, null for a hash that means none. */
async function commitsIn(ctx: Ctx, { project, hashes }: Hashes): Promise<readonly (Oid | null)[]> {
  try {
    const commits = await commitsByPrefix(openRepository(ctx, project), hashes)
    return commits.map((commit) => commit ?? null)
  } catch {
    // The text is shown without links to this repository, unless the reader has gone.
    ctx.signal?.throwIfAborted()
    return []
  }
}

/** Commits by hash: of each project, in the order of its hashes. No statement; for each project one read of its repository at most. */
const commits: Source<readonly (readonly (Oid | null)[])[]> = {
  kinds: ['commit', 'range'],
  find: (ctx, wanted) => Promise.all(hashesOf(wanted).map((each) => commitsIn(ctx, each))),
  links(wanted, found, siteUrl) {
    const commitOf = new Map<NamedProjectRow, ReadonlyMap<string, Oid | null | undefined>>(
      hashesOf(wanted).map(({ project, hashes }, at) => [
        project,
        new Map(hashes.map((hash, index) => [hash, found[at]![index]])),
      ]),
    )
    return wanted.map(({ target, project }) => {
      const ofProject = project && commitOf.get(project)
      if (!ofProject) return undefined
      const hashes = target.name.split('..')
      const oids = hashes.map((hash) => ofProject.get(hash) ?? null)
      if (oids.includes(null)) return undefined
      const [from, to] = oids as [Oid, Oid?]
      const home = `${homeOf(siteUrl, project)}/-`
      const text = hashes.map((hash) => hash.slice(0, 8)).join('...')
      return (within) => ({
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
