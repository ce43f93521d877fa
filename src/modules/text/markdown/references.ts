import { cachedByInputs } from '../../../api/cached-by-inputs.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Html, MarkdownPlace } from '../../../api/markdown.ts'
import { limits } from '../../../markdown/limits.ts'
import type { Rendered } from '../../../markdown/types.ts'
import type { Within } from '../../discussion/index.ts'
import { linkHtml } from './links.ts'
import { type Found, findNamedProjects, type NamedProjectRow, rowsOf } from './queries.ts'
import { type FoundTargets, type LinkFrom, sources, type Wanted } from './sources.ts'
import { keyOf, type Target, targetIn } from './targets.ts'

/**
 * The HTML of rendered texts in these places, with links to what the caller may see now. A reference to what they may not see is the same
 * as one to what does not exist. At most one statement for the projects, and one for each kind of reference; all are cached. What follows
 * from their results and the texts is a chain of pure functions, each cached under the key of its inputs: so it is done again only after
 * a change.
 */
export async function withReferences(
  ctx: Ctx,
  places: readonly MarkdownPlace[],
  rendered: readonly Rendered[],
): Promise<readonly Html[]> {
  if (rendered.every(({ references }) => references.length === 0)) return rendered.map(withoutReferences)
  const asked = askedBy({ places, rendered })
  const { paths } = asked
  const projects = paths.length > 0 ? await findNamedProjects(ctx.db, ctx.actor, paths) : []
  const wanted = wantedOf({ asked, projects })
  const found = await Promise.all(wanted.lists.map(({ source, targets }) => sources[source]!.find(ctx, targets)))
  return htmlOf({ places, rendered, wanted, found, siteUrl: ctx.site.url })
}

const withoutLinks = new WeakMap<Rendered, Html>()

/** One object for each rendered text that is cached. */
function withoutReferences(rendered: Rendered): Html {
  const known = withoutLinks.get(rendered)
  if (known) return known
  const made = { html: rendered.parts[0] ?? '' }
  if (Object.isFrozen(rendered)) withoutLinks.set(rendered, Object.freeze(made))
  return made
}

/** Rendered texts, and where they belong, in the same order. */
type Placed = { readonly places: readonly MarkdownPlace[]; readonly rendered: readonly Rendered[] }

/** What texts refer to. */
type Asked = {
  /** Each once. */
  readonly targets: readonly Target[]
  /** For each text the indexes of its targets, in their order. */
  readonly ofTexts: readonly (readonly number[])[]
  /** Full paths in lower case of the projects that targets and texts name. */
  readonly paths: readonly string[]
}

/** Approximate bytes of a target and what belongs to it. */
const targetBytes = 300

const askedBy = cachedByInputs(
  ({ places, rendered }: Placed): Asked => {
    const targets = new Map<string, { readonly target: Target; readonly index: number }>()
    const ofTexts = rendered.map((text, at) =>
      text.targets.map((written) => {
        const target = targetIn(places[at]!, written)
        const key = keyOf(target)
        const known = targets.get(key)
        if (known) return known.index
        const index = targets.size
        targets.set(key, { target, index })
        return index
      }),
    )
    const all = Array.from(targets.values(), ({ target }) => target)
    const referring = places.filter((_, at) => rendered[at]!.references.length > 0)
    return { targets: all, ofTexts, paths: pathsOf(referring, all) }
  },
  { maximumBytes: 2 * 1024 * 1024, sizeOf: ({ targets }) => targets.length * targetBytes },
)

function pathsOf(places: readonly MarkdownPlace[], targets: readonly Target[]): string[] {
  const named = new Set(targets.flatMap(({ kind, path }) => (path === undefined || kind === '&' ? [] : path)))
  // How a link to an epic is named depends on the project of the text.
  if (named.size > 0 || targets.some(({ kind }) => kind === '&'))
    for (const place of places) if (place.of === 'project') named.add(place.full_path.toLowerCase())
  return [...named].sort()
}

type InProjects = { readonly asked: Asked; readonly projects: Found<NamedProjectRow> }

/** The projects that the caller may see, by path in lower case. */
const byPath = ({ asked, projects }: InProjects): ReadonlyMap<string, NamedProjectRow> =>
  new Map(rowsOf(projects).map((row) => [asked.paths[row.place]!, row]))

/** What is to be looked up in one of the sources. */
type WantedList = {
  /** Its index. */
  readonly source: number
  readonly targets: readonly Wanted[]
  /** Of the targets, in what is asked. */
  readonly indexes: readonly number[]
}

/** What is to be looked up, given the projects that the caller may see. */
const wantedOf = cachedByInputs(
  (inputs: InProjects): InProjects & { readonly lists: readonly WantedList[] } => {
    const projects = byPath(inputs)
    const lists = sources.flatMap(({ kinds }, source) => {
      const targets: Wanted[] = []
      const indexes: number[] = []
      for (const [index, target] of inputs.asked.targets.entries()) {
        if (!kinds.includes(target.kind)) continue
        const project = target.path === undefined ? undefined : projects.get(target.path)
        if (project || target.kind === '@' || (target.kind === '&' && target.path !== undefined)) {
          targets.push({ target, project })
          indexes.push(index)
        }
      }
      return targets.length > 0 ? [{ source, targets, indexes }] : []
    })
    return { ...inputs, lists }
  },
  {
    maximumBytes: 2 * 1024 * 1024,
    sizeOf: ({ lists }) => lists.reduce((sum, { targets }) => sum + targets.length * targetBytes, 0),
  },
)

type Resolved = Placed & {
  readonly wanted: ReturnType<typeof wantedOf>
  /** In the order of the lists. */
  readonly found: readonly FoundTargets[]
  readonly siteUrl: string
}

/** The HTML of texts with links to what was found. */
const htmlOf = cachedByInputs(
  (resolved: Resolved): readonly Html[] => {
    const { asked } = resolved.wanted
    const projects = byPath(resolved.wanted)
    const links = linksOf(resolved)
    return resolved.rendered.map((text, at) => {
      const { parts, references } = text
      if (references.length === 0) return withoutReferences(text)
      const within = withinOf(resolved.places[at]!, projects)
      let length = parts.reduce((sum, part) => sum + part.length, 0)
      const shown = references.map((reference) => {
        const link = links.get(asked.ofTexts[at]![reference.target]!)
        const linked = link && linkHtml(link(within), reference)
        // A link has the path of its target and its title: a page of short texts could have hundreds of megabytes of them.
        const html = linked !== undefined && length + linked.length <= limits.html ? linked : reference.fallback
        length += html.length
        return html
      })
      return Object.freeze({ html: parts.map((part, index) => part + (shown[index] ?? '')).join('') })
    })
  },
  {
    maximumBytes: 8 * 1024 * 1024,
    sizeOf: (shown) => shown.reduce((sum, { html }) => sum + 2 * html.length + 100, 0),
  },
)

/** The links of the targets that exist for the caller, by their index. */
function linksOf({ wanted, found, siteUrl }: Resolved): ReadonlyMap<number, LinkFrom> {
  const links = new Map<number, LinkFrom>()
  for (const [at, { source, targets, indexes }] of wanted.lists.entries()) {
    const ofSource = sources[source]!.links(targets, found[at]!, siteUrl)
    for (const [place, link] of ofSource.entries()) if (link) links.set(indexes[place]!, link)
  }
  return links
}

function withinOf(place: MarkdownPlace, projects: ReadonlyMap<string, NamedProjectRow>): Within {
  if (place.of === 'group') return { of: 'group', full_path: place.full_path }
  const project = place.of === 'project' ? projects.get(place.full_path.toLowerCase()) : undefined
  return project ? { of: 'project', id: project.id, full_path: project.full_path } : { of: 'all' }
}
