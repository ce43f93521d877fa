import type { Ctx } from '../../../api/ctx.ts'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import type { Db } from '../../../db/db.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { isReadByGit } from '../../../git/format/safe-path.ts'
import { blobSize, readBlob } from '../../../git/objects/blobs.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { passChecks } from '../../../git/objects/file-check.ts'
import { newObject } from '../../../git/objects/objects.ts'
import { listHere } from '../../../git/objects/tree-listing.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import {
  commitToSideRepository,
  findSideRepository,
  mainRefOf,
  openSideRepository,
  type SideEdit,
} from '../../pushes/index.ts'
import { findFile, rawBlob } from '../../repository/index.ts'
import { maxFiles, snippetBranch } from './branch.ts'
import { type FileChange, type FileWrite, writesOf } from './changes.ts'
import type { SnippetFile } from './queries.ts'

export const holderOf = (snippetId: number) => ({ kind: 'snippet', id: snippetId }) as const

/** Most entries of a listing: files, and the folders around them. */
const mostEntries = 1000

/**
 * The files of a commit, in git's order; `undefined` if there are too many to list, or something that is no file. No process.
 */
export async function filesAt(repo: Repository, commit: Oid): Promise<SnippetFile[] | undefined> {
  const tree = (await readCommit(repo, commit))?.tree
  const listing = tree && (await listHere(repo, tree, mostEntries))
  if (!listing || listing.length > mostEntries) return undefined
  const entries = listing.slice(0, mostEntries)
  if (entries.some(({ mode }) => !mode.startsWith('100') && mode !== '040000')) return undefined
  const files = entries.filter(({ type }) => type === 'blob')
  if (files.length > maxFiles) return undefined
  return Promise.all(
    files.map(async ({ path, oid }) => {
      const size = await blobSize(repo, oid)
      if (size === undefined) throw new Error(`the blob ${oid} is missing`)
      return { path, oid, size }
    }),
  )
}

/** The repository of a snippet with its files at the head; undefined before the first commit, and for what is no snippet. */
export async function openHead(
  ctx: Ctx,
  snippetId: number,
  db: Db = ctx.db,
): Promise<{ readonly repo: Repository; readonly files: readonly SnippetFile[] } | undefined> {
  const row = await findSideRepository(db, holderOf(snippetId))
  const repo = row && openSideRepository(ctx, row)
  const head = repo && (await readRef(repo, mainRefOf(row)))
  const files = repo && head && (await filesAt(repo, head))
  return files && { repo, files }
}

/** Changes the files of a snippet by a commit of the caller. Another writer's commit is never lost. */
export async function commitFiles(ctx: Ctx, snippetId: number, change: FileChange, message: string): Promise<void> {
  const row = await findSideRepository(ctx.db, holderOf(snippetId))
  if (!row) throw notFound('Snippet')
  await commitToSideRepository(ctx, row, {
    message,
    edits: async (repo, head) => {
      const files = head ? await filesAt(repo, head.oid) : []
      if (!files) throw invalid('The repository has something else than the files of a snippet.')
      const writes = writesOf(
        files.map(({ path }) => path),
        change,
      )
      await requireReadable(repo, files, writes)
      return editsOf(files, writes)
    },
  })
}

/**
 * The writes as edits that apply one after the other. Files keep their objects when they move, which are not read: each first moves to
 * a name of its own, so that two may swap names, and a file goes before a folder of its name comes.
 */
function editsOf(files: readonly SnippetFile[], writes: readonly FileWrite[]): SideEdit[] {
  const apart = freeFolder([...files, ...writes].map(({ path }) => path))
  const [first, last]: [SideEdit[], SideEdit[]] = [[], []]
  const moved = new Set<string>()
  for (const { path, write } of writes) {
    if (write === null) continue
    if ('content' in write) last.push({ path, content: write.content })
    else {
      const between = `${apart}/${moved.size}`
      moved.add(write.from)
      first.push({ path: between, movedFrom: write.from })
      last.push({ path, movedFrom: between })
    }
  }
  const removed = writes.filter(({ path, write }) => write === null && !moved.has(path))
  return [...first, ...removed.map(({ path }): SideEdit => ({ path, content: null })), ...last]
}

/** A name at the root that none of these paths has. */
function freeFolder(paths: readonly string[]): string {
  const taken = new Set(paths.map((path) => path.split('/')[0]))
  let name = 'moved'
  while (taken.has(name)) name += '-'
  return name
}

/** Throws if a file that moves gets a name under which git itself reads it, and git would refuse its content. */
async function requireReadable(
  repo: Repository,
  files: readonly SnippetFile[],
  writes: readonly FileWrite[],
): Promise<void> {
  for (const { path, write } of writes) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (write === null || 'content' in write || !isReadByGit(name)) continue
    const { oid, size } = files.find((file) => file.path === write.from)!
    const content = (await readBlob(repo, oid as Oid, { maxBytes: size }))?.content
    if (!content) throw new Error(`the blob ${oid} is missing`)
    if (!(await passChecks(repo, [{ name, mode: '100644', blob: newObject('blob', content) }])))
      throw invalid(`invalid file: '${path}'`)
  }
}

type Wanted = { readonly reply: Reply; readonly head: boolean }

/** The content of the first file. */
export async function readFirstFile(ctx: Ctx, snippetId: number, wanted: Wanted): Promise<RawBody> {
  const found = await openHead(ctx, snippetId)
  const first = found?.files[0]
  if (!found || !first) throw notFound('File')
  return rawBlob(found.repo, { blob: first.oid as Oid, sizeBytes: first.size, what: 'File' }, wanted)
}

/** The content of a file at a branch or commit. */
export async function readFileAt(
  ctx: Ctx,
  snippetId: number,
  { ref, path }: { readonly ref: string; readonly path: string },
  wanted: Wanted,
): Promise<RawBody> {
  const row = await findSideRepository(ctx.db, holderOf(snippetId))
  if (!row) throw notFound('File')
  const repo = openSideRepository(ctx, row)
  const { blob, sizeBytes } = await findFile(repo, ref, path)
  return rawBlob(repo, { blob, sizeBytes, what: 'File' }, wanted)
}

/** Characters of each file that a search of code looks at. */
const searchedCharacters = 100_000
/** Larger files are not searched. */
const searchedBytes = 1024 * 1024

/** The text of the first file, for messages to other systems; null if it is too large, no text, or gone. */
export async function firstText(ctx: Ctx, snippetId: number): Promise<string | null> {
  const found = await openHead(ctx, snippetId)
  const first = found?.files[0]
  if (!found || !first || first.size > searchedBytes) return null
  const content = (await readBlob(found.repo, first.oid as Oid))?.content
  return content === undefined || content.includes(0) ? null : content.toString('utf8').toWellFormed()
}

/** The beginning of the text files, for the search of code. */
export async function searchedText(repo: Repository, files: readonly SnippetFile[]): Promise<string> {
  const texts = await Promise.all(
    files
      .filter(({ size }) => size <= searchedBytes)
      .map(async ({ oid }) => (await readBlob(repo, oid as Oid))?.content ?? Buffer.alloc(0)),
  )
  return texts
    .filter((content) => !content.includes(0))
    .map((content) => content.toString('utf8').slice(0, searchedCharacters).toWellFormed())
    .join('\n')
}

/** Why a commit cannot be the head of a snippet; undefined if it can. */
export async function refusalOf(ctx: Ctx, repo: Repository, commit: Oid): Promise<string | undefined> {
  const files = await filesAt(repo, commit)
  if (!files) return `The repository can contain at most ${maxFiles} file(s), and no links or submodules.`
  if (files.some(({ path }) => !path.isWellFormed())) return 'The names of files must be UTF-8.'
  if (files.length === 0) return 'The repository must contain at least 1 file.'
  const limit = ctx.settings.snippet_size_limit
  const large = files.find(({ size }) => size > limit)
  return large && `The file ${JSON.stringify(large.path)} is larger than ${limit} bytes.`
}

/** The failure of a push to another branch. */
export const onlyBranch = `A snippet has only the branch ${snippetBranch}.`
