import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { resolve } from '../../../git/refs/resolve.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { conflict, invalid, invalidFields, notFound } from '../../../kernel/failure.ts'
import { blank, taken } from '../../../kernel/violations.ts'
import { initialBranch, safeFilename, shownMediaType } from '../../projects/index.ts'
import { commitToSideRepository, type SideEdit } from '../../pushes/index.ts'
import type { PageRow, StoredAttachment } from './entity.ts'
import { type OpenWiki, openWiki, type WikiHolder, wikiRepository } from './holder.ts'
import { fileOf, folderOf, isWritable, pageAt, slugOf, stemOf, type WritableFormat } from './page-names.ts'
import { contentOf, findPage, maxPageBytes, type Page } from './pages.ts'

const missing = () => notFound('Wiki Page')

/** The page with a slug, at the head or in an earlier commit. */
export async function getPage(
  ctx: Ctx,
  holder: WikiHolder,
  slug: string,
  version: string | undefined,
): Promise<PageRow> {
  const wiki = await openWiki(ctx, holder)
  const commit = wiki && (version === undefined ? wiki.head : await findVersion(wiki, version))
  const page = commit && (await findPage(wiki.repo, commit, slugOf(slug)))
  if (!page) throw missing()
  return { ...page, content: await contentOf(wiki.repo, page) }
}

/** A commit by its full or abbreviated id; never a branch or tag. */
async function findVersion({ repo }: OpenWiki, version: string) {
  const id = version.toLowerCase()
  if (!/^[0-9a-f]{7,64}$/.test(id)) return undefined
  const oid = await resolve(repo, id)
  const commit = oid?.startsWith(id) ? await readCommit(repo, oid) : undefined
  return commit?.oid
}

export type NewPage = { readonly title: string; readonly content: string; readonly format: WritableFormat }

export async function createPage(ctx: Ctx, holder: WikiHolder, { title, content, format }: NewPage): Promise<PageRow> {
  requireContent(content)
  const path = fileOf(stemOf(title), format)
  const page = pageAt(path)!
  await commit(ctx, holder, 'created', page, async (repo, head) => {
    await requireFree(repo, head, page.slug)
    return [{ path, content }]
  })
  return { ...page, content }
}

export type PageChange = {
  readonly title?: string | undefined
  readonly content?: string | undefined
  readonly format?: WritableFormat | undefined
}

/** Changes a page. A `conflict` failure if another writer changes it meanwhile. */
export async function editPage(ctx: Ctx, holder: WikiHolder, slug: string, change: PageChange): Promise<PageRow> {
  if (change.content !== undefined) requireContent(change.content)
  const { wiki, page } = await requirePage(ctx, holder, slug)
  const { content = await contentOf(wiki.repo, page) } = change
  const after = pageAt(pathAfter(page, change))!
  await commit(ctx, holder, 'updated', after, async (repo, head) => {
    await requireUnchanged(repo, head, page)
    if (after.slug !== page.slug) await requireFree(repo, head, after.slug)
    const edited = change.content === undefined ? {} : { content: change.content }
    return after.path === page.path
      ? [{ path: page.path, content }]
      : [{ path: after.path, movedFrom: page.path, ...edited }]
  })
  return { ...after, content }
}

/** The path of a page with another title or format. The file keeps its name if neither differs from it. */
function pathAfter(page: Page, { title, format }: PageChange): string {
  const stem = page.path.slice(0, page.path.lastIndexOf('.'))
  const asked = title === undefined ? stem : stemOf(title, folderOf(page.slug))
  const isRenamed = slugOf(asked) !== page.slug
  if (!isRenamed && (format === undefined || format === page.format)) return page.path
  const kept = format ?? page.format
  if (isWritable(kept)) return fileOf(isRenamed ? asked : stem, kept)
  // A page in a format that the API does not write is renamed with its extension.
  return `${asked}${page.path.slice(page.path.lastIndexOf('.'))}`
}

export async function removePage(ctx: Ctx, holder: WikiHolder, slug: string): Promise<void> {
  const { page } = await requirePage(ctx, holder, slug)
  await commit(ctx, holder, 'deleted', page, async (repo, head) => {
    await requireUnchanged(repo, head, page)
    return [{ path: page.path, content: null }]
  })
}

/** Commits a file into a folder of its own, beside the pages. `branch` can only be the default branch. */
export async function storeAttachment(
  ctx: Ctx,
  holder: WikiHolder,
  file: UploadedFile,
  branch: string | undefined,
): Promise<StoredAttachment> {
  const row = await wikiRepository(ctx, holder)
  const main = row.default_branch ?? initialBranch
  if (branch !== undefined && branch !== main) throw invalid(`A wiki has one branch: ${main}`)
  const name = safeFilename(file.filename)
  const path = `uploads/${randomBytes(16).toString('hex')}/${name}`
  await commitToSideRepository(ctx, row, {
    message: `Upload attachment ${name}`,
    edits: [{ path, content: await readFile(file.path) }],
  })
  return { name, path, branch: main, isImage: shownMediaType(name) !== undefined }
}

async function requirePage(ctx: Ctx, holder: WikiHolder, slug: string): Promise<{ wiki: OpenWiki; page: Page }> {
  const wiki = await openWiki(ctx, holder)
  const page = wiki && (await findPage(wiki.repo, wiki.head, slugOf(slug)))
  if (!page) throw missing()
  return { wiki, page }
}

async function commit(
  ctx: Ctx,
  holder: WikiHolder,
  what: 'created' | 'updated' | 'deleted',
  { title }: Pick<PageRow, 'title'>,
  edits: (repo: Repository, head: Commit | undefined) => Promise<readonly SideEdit[]>,
): Promise<void> {
  const row = await wikiRepository(ctx, holder)
  await commitToSideRepository(ctx, row, { message: `${ctx.actor!.username} ${what} page: ${title}`, edits })
}

function requireContent(content: string): void {
  if (content === '') throw invalidFields({ content: [blank] })
  if (Buffer.byteLength(content) > maxPageBytes)
    throw invalidFields({ content: [`is too long. The maximum size is ${maxPageBytes / 1024 / 1024} MB.`] })
}

async function requireFree(repo: Repository, head: Commit | undefined, slug: string): Promise<void> {
  if (head && (await findPage(repo, head.oid, slug))) throw invalidFields({ title: [taken] })
}

/** Throws if the page is no longer as the request found it. */
async function requireUnchanged(repo: Repository, head: Commit | undefined, page: Page): Promise<void> {
  const now = head && (await findPage(repo, head.oid, page.slug))
  if (!now) throw missing()
  if (now.path !== page.path || now.oid !== page.oid)
    throw conflict('You are attempting to update a page that has changed since you started editing it.')
}
