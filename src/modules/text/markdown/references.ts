import type { Ctx } from '../../../api/ctx.ts'
import type { MarkdownPlace } from '../../../api/markdown.ts'
import type { Rendered } from '../../../markdown/types.ts'
import type { Within } from '../../discussion/index.ts'
import { linkHtml } from './links.ts'
import { findNamedProjects, type NamedProjectRow } from './queries.ts'
import { type LinkFrom, sources, type Wanted } from './sources.ts'
import { keyOf, type Target, targetIn } from './targets.ts'

/** A rendered text, and where it belongs. */
export type Placed = { readonly place: MarkdownPlace; readonly rendered: Rendered }

/**
 * The HTML of texts with links to what the caller may see now. A reference to what they may not see is the same as one to what does not
 * exist. At most one statement for the projects, and one for each kind of reference.
 */
export async function withReferences(ctx: Ctx, texts: readonly Placed[]): Promise<string[]> {
  const targets = new Map<string, Target>()
  const keys = texts.map(({ place, rendered }) =>
    rendered.targets.map((written) => {
      const target = targetIn(place, written)
      const key = keyOf(target)
      targets.set(key, target)
      return key
    }),
  )
  const projects = await projectsOf(ctx, texts, targets)
  const links = await linksOf(ctx, targets, projects)
  return texts.map(({ place, rendered: { parts, references } }, index) => {
    if (references.length === 0) return parts[0] ?? ''
    const within = withinOf(place, projects)
    const shown = references.map((reference) => {
      const link = links.get(keys[index]![reference.target]!)
      return link ? linkHtml(link(within), reference) : reference.fallback
    })
    return parts.map((part, at) => part + (shown[at] ?? '')).join('')
  })
}

/** The projects that targets and texts name, by path in lower case, of those that the caller may see. */
async function projectsOf(
  ctx: Ctx,
  texts: readonly Placed[],
  targets: ReadonlyMap<string, Target>,
): Promise<ReadonlyMap<string, NamedProjectRow>> {
  const all = [...targets.values()]
  const named = new Set(all.flatMap(({ kind, path }) => (path === undefined || kind === '&' ? [] : path)))
  // How a link to an epic is named depends on the project of the text.
  if (named.size > 0 || all.some(({ kind }) => kind === '&'))
    for (const { place } of texts) if (place.of === 'project') named.add(place.full_path.toLowerCase())
  if (named.size === 0) return new Map()
  const rows = await findNamedProjects(ctx.db, ctx.actor, [...named].sort())
  return new Map(rows.map((row) => [row.path_key, row]))
}

/** The links of the targets that exist for the caller. */
async function linksOf(
  ctx: Ctx,
  targets: ReadonlyMap<string, Target>,
  projects: ReadonlyMap<string, NamedProjectRow>,
): Promise<ReadonlyMap<string, LinkFrom>> {
  const links = new Map<string, LinkFrom>()
  await Promise.all(
    sources.map(async ({ kinds, find }) => {
      const wanted: (Wanted & { readonly key: string })[] = []
      for (const [key, target] of targets) {
        if (!kinds.includes(target.kind)) continue
        const project = target.path === undefined ? undefined : projects.get(target.path)
        if (project || target.kind === '@' || (target.kind === '&' && target.path !== undefined))
          wanted.push({ key, target, project })
      }
      if (wanted.length === 0) return
      const found = await find(ctx, wanted)
      found.forEach((link, index) => {
        if (link) links.set(wanted[index]!.key, link)
      })
    }),
  )
  return links
}

function withinOf(place: MarkdownPlace, projects: ReadonlyMap<string, NamedProjectRow>): Within {
  if (place.of === 'group') return { of: 'group', full_path: place.full_path }
  const project = place.of === 'project' ? projects.get(place.full_path.toLowerCase()) : undefined
  return project ? { of: 'project', id: project.id, full_path: project.full_path } : { of: 'all' }
}
