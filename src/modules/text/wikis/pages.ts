import type { Oid } from '../../../git/format/oid.ts'
import { decodeText } from '../../../git/format/text.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { listTree } from '../../../git/objects/tree-listing.ts'
import { readTree, type TreeEntry } from '../../../git/objects/trees.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, isTooLarge, notFound, pageTooLarge } from '../../../kernel/failure.ts'
import { Turns } from '../../../kernel/turns.ts'
import { type PageName, pageAt } from './page-names.ts'

/** A page in a commit. */
export type Page = PageName & { readonly oid: Oid }

/** Maximum bytes of one page: a larger one, which only a push can make, is read by cloning. */
export const maxPageBytes = 5 * 1024 * 1024
/** Maximum bytes of the contents of one list. */
const maxListBytes = 32 * 1024 * 1024
/** Maximum entries of a wiki that are looked at for its list, and of directories before the last one that is read for a page. */
const maxEntries = 100_000
/** Maximum directories of one name that are looked into: their number could double with each level. */
const maxSameNames = 8

const isFile = ({ mode }: Pick<TreeEntry, 'mode'>): boolean => mode.startsWith('100')

/** All pages of a commit by slug; cached. No process. */
export async function listPages(repo: Repository, commit: Oid): Promise<readonly Page[]> {
  const tree = (await readCommit(repo, commit))?.tree
  if (tree === undefined) return []
  const found = await memoize(
    repo,
    `wiki pages ${tree}`,
    async (repo) => {
      const entries = (await listTree(repo, commit, '', { recursive: true }))?.slice(0, maxEntries) ?? []
      const pages = entries.flatMap((entry) => {
        const page = isFile(entry) ? pageAt(entry.path) : undefined
        return page ? [{ ...page, oid: entry.oid }] : []
      })
      return inOrder(pages)
    },
    (pages) => 300 * pages.length,
  )
  return found ?? []
}

/** By slug, first without case; one page for each slug. */
function inOrder(pages: readonly Page[]): Page[] {
  const bySlug = new Map<string, Page>()
  for (const page of pages) {
    const other = bySlug.get(page.slug)
    if (!other || page.rank < other.rank) bySlug.set(page.slug, page)
  }
  const keyed = [...bySlug.values()].map((page) => ({ page, key: page.slug.toLowerCase() }))
  keyed.sort((a, b) => compare(a.key, b.key) || compare(a.page.slug, b.page.slug))
  return keyed.map(({ page }) => page)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The page with a slug in a commit. Reads the directories on its way, no others. Throws `too_large` if these have too many entries: that
 * there is no such page could not be said.
 */
export async function findPage(repo: Repository, commit: Oid, slug: string): Promise<Page | undefined> {
  const parts = slug.split('/')
  const entriesOf = entryReader(repo)
  let folders: Folder[] = [{ tree: commit, path: '' }]
  for (const part of parts.slice(0, -1)) {
    const entries = await entriesOf(folders)
    folders = entries
      .filter(({ entry }) => entry.type === 'tree' && hyphenatedIs(entry.name, part))
      .sort((a, b) => Number(b.entry.name === part) - Number(a.entry.name === part))
      .slice(0, maxSameNames)
      .map(({ entry, path }) => ({ tree: entry.oid, path: `${path}${entry.name}/` }))
    if (folders.length === 0) return undefined
  }
  const candidates = (await entriesOf(folders)).flatMap(({ entry, path }) => {
    const page = isFile(entry) ? pageAt(path + entry.name) : undefined
    return page?.slug === slug ? [{ ...page, oid: entry.oid }] : []
  })
  return candidates.sort((a, b) => a.rank - b.rank || compare(a.path, b.path))[0]
}

const hyphenatedIs = (name: string, part: string): boolean =>
  name === part || name.normalize('NFC').replaceAll(' ', '-') === part

type Folder = { readonly tree: Oid; readonly path: string }

/** Reads directories one after the other, until those read so far have too many entries. */
function entryReader(repo: Repository) {
  const turns = new Turns()
  let read = 0
  return async (folders: readonly Folder[]) => {
    const found: { readonly entry: TreeEntry; readonly path: string }[][] = []
    for (const { tree, path } of folders) {
      if (read > maxEntries) throw new Failure('too_large', 'The directories of the page have too many files')
      if (turns.isOver) await turns.next()
      const entries = (await readTree(repo, tree)) ?? []
      read += entries.length
      found.push(entries.map((entry) => ({ entry, path })))
    }
    return found.flat()
  }
}

/** The content of a page as text. */
export async function contentOf(repo: Repository, { oid }: Page): Promise<string> {
  const blob = await readBlob(repo, oid, { maxBytes: maxPageBytes })
  if (!blob) throw notFound('Wiki Page')
  return decodeText(blob.content)
}

/** The pages with their contents, read one after the other; without that of a page that is too large. */
export async function withContents(
  repo: Repository,
  pages: readonly Page[],
): Promise<(Page & { readonly content: string | undefined })[]> {
  let left = maxListBytes
  const found: (Page & { content: string | undefined })[] = []
  for (const page of pages) {
    const content = await contentOf(repo, page).catch(unlessTooLarge)
    left -= Buffer.byteLength(content ?? '')
    if (left < 0) throw pageTooLarge()
    found.push({ ...page, content })
  }
  return found
}

/** For `contentOf`: undefined instead of a failure because of the size. */
export function unlessTooLarge(error: unknown): undefined {
  if (!isTooLarge(error)) throw error
}
