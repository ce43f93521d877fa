import type { Ctx } from '../../../api/ctx.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Resource, Stages } from './adapter.ts'
import { type Access, type Answer, ForgeBusy, ForgeDenial, getJson } from './client.ts'
import { type ForgeItem, LeftOut } from './items.ts'
import type { PageFiles } from './pages.ts'
import { objectIn } from './values.ts'

/** Bounds of an import; a hostile forge could go on for ever. */
export type CollectLimits = {
  /** Pages of one list. */
  readonly pages: number
  /** Items of a page. */
  readonly items: number
  /** Bytes of all pages together. */
  readonly bytes: number
}

export const collectLimits: CollectLimits = { pages: 20_000, items: 1000, bytes: 4 * 1024 ** 3 }

/** Reasons that a page names. */
const maxReasons = 20

export type Collecting = {
  readonly access: Access
  /** `owner/name` */
  readonly repository: string
  readonly stages: Stages
  readonly files: PageFiles
  readonly limits?: CollectLimits
  /** A list that the forge cannot give, however often it is asked, is left out instead of ending the import. */
  readonly optimistic: boolean
  /** Attempts without a page before this one, and how many there may be. */
  readonly fruitless: { readonly before: number; readonly most: number }
  /** Called after each page that was read; throws to stop. */
  readonly progress: () => Promise<void>
}

/** Reads everything that is not read yet. Throws `ForgeBusy` if it is to go on later, and `ArchiveRefusal` if never. */
export async function collect(ctx: Ctx, collecting: Collecting): Promise<readonly Resource[]> {
  const { access, stages, files } = collecting
  const { adapter } = access
  const seen = new Map<string, Resource>()
  const usernames = new Set<string>()
  const walk = new Walk(ctx, collecting, await files.prepare())
  const visit = async (resource: Resource): Promise<void> => {
    if (seen.has(resource.name)) return
    seen.set(resource.name, resource)
    await walk.read(resource)
    for await (const item of files.items(resource.name)) {
      for (const username of usernamesIn(item)) usernames.add(username)
      for (const part of adapter.resourcesOf(item, stages)) await visit(part)
    }
  }
  for (const resource of adapter.resources(stages)) await visit(resource)
  if (stages.people && adapter.person)
    for (const username of [...usernames].slice(0, maxPeople)) await visit(adapter.person(username))
  return [...seen.values()]
}

/** A request each. */
const maxPeople = 2000

function usernamesIn(item: ForgeItem): string[] {
  const people = [
    'author' in item ? item.author : null,
    ...('assignees' in item ? [...item.assignees, item.closedBy] : []),
    ...(item.is === 'pull' ? [...item.reviewers, item.mergedBy] : []),
  ]
  return people.flatMap((person) => (person ? [person.username] : []))
}

class Walk {
  readonly #ctx: Ctx
  readonly #collecting: Collecting
  readonly #root: string
  #fruitless: number
  #bytes: number

  constructor(ctx: Ctx, collecting: Collecting, bytes: number) {
    this.#bytes = bytes
    this.#ctx = ctx
    this.#collecting = collecting
    this.#root = collecting.access.adapter.apiOf(collecting.access.forgeUrl)
    this.#fruitless = collecting.fruitless.before
  }

  async read(resource: Resource): Promise<void> {
    const { files, limits = collectLimits, progress } = this.#collecting
    const [path, first = ''] = resource.path.split('?')
    const asked = new Set<string>()
    let query = first
    for (let page = 1; ; page++) {
      if (page > limits.pages) throw new ArchiveRefusal(`${resource.name} has more than ${limits.pages} pages`)
      if (asked.has(query)) throw new ArchiveRefusal(`The pages of ${resource.name} repeat themselves`)
      asked.add(query)
      let head = await files.head(resource.name, page)
      if (!head) {
        const { value, next, reason } = await this.#ask(resource, this.#url(path!, query))
        const { items, isEmpty, ...left } = readItems(resource, value, limits)
        head = {
          items: items.length,
          next: isEmpty || resource.single ? null : (next ?? null),
          ...(reason === undefined ? left : { leftOut: 1, reasons: [reason] }),
        }
        await progress()
        this.#fruitless = 0
        this.#bytes += await files.save(resource.name, page, head, items)
        if (this.#bytes > limits.bytes) throw new ArchiveRefusal(`The pages are larger than ${limits.bytes} bytes`)
      }
      if (head.next === null) return
      query = head.next
    }
  }

  #url(path: string, query: string): string {
    const below = path.startsWith('/') ? path : `/repos/${this.#collecting.repository}/${path}`
    return `${this.#root}${below}${query === '' ? '' : `?${query}`}`
  }

  async #ask(resource: Resource, url: string): Promise<Answer & { readonly reason?: string }> {
    const { access, optimistic, fruitless } = this.#collecting
    try {
      return await getJson(this.#ctx, access, url)
    } catch (error) {
      const nothing = { value: resource.single ? {} : [], next: undefined }
      if (error instanceof ForgeDenial) {
        // Parts of a repository can be disabled, and users deleted.
        if (error.status === 404 || error.status === 410) return nothing
        return { ...nothing, reason: error.message }
      }
      if (!(error instanceof ForgeBusy) || this.#fruitless + 1 < fruitless.most) throw error
      if (optimistic) return { ...nothing, reason: error.message }
      throw new ArchiveRefusal(`${error.message}, when it was asked for ${resource.name}`)
    }
  }
}

function readItems(
  resource: Resource,
  value: unknown,
  limits: CollectLimits,
): { items: ForgeItem[]; isEmpty: boolean; leftOut: number; reasons: string[] } {
  const given = resource.single ? [value] : value
  if (!Array.isArray(given)) throw new ArchiveRefusal(`The forge did not answer with a list of ${resource.name}`)
  if (given.length > limits.items) throw new ArchiveRefusal(`A page of ${resource.name} has too many items`)
  const items: ForgeItem[] = []
  const reasons: string[] = []
  let leftOut = 0
  for (const each of given) {
    try {
      const object = objectIn(each)
      if (!object) throw new LeftOut('it is not an object')
      const item = resource.read(object)
      if (item) items.push(item)
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error
      leftOut++
      if (reasons.length < maxReasons) reasons.push(error.message)
    }
  }
  return { items, leftOut, reasons, isEmpty: given.length === 0 }
}
