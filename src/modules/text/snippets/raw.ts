import type { Ctx } from '../../../api/ctx.ts'
import { disposition } from '../../../api/disposition.ts'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import { readFileAt, readFirstFile } from './files.ts'
import type { SnippetRow } from './queries.ts'

/** Snippets are texts: clients that learn no charset read what is not ASCII as Latin-1. Source: supplement, "Project snippets". */
const contentType = 'text/plain; charset=utf-8'

type Wanted = { readonly ctx: Ctx; readonly reply: Reply; readonly head: boolean }

/** The content of the first file, as a download: a browser must not run what a user wrote. */
export async function rawSnippet({ id, file_name }: SnippetRow, { ctx, ...wanted }: Wanted): Promise<RawBody> {
  setName(wanted.reply, file_name)
  return { ...(await readFirstFile(ctx, id, wanted)), contentType }
}

/** The content of a file at a branch or commit. */
export async function rawFile(
  { id }: SnippetRow,
  at: { readonly ref: string; readonly path: string },
  { ctx, ...wanted }: Wanted,
): Promise<RawBody> {
  setName(wanted.reply, at.path)
  return { ...(await readFileAt(ctx, id, at, wanted)), contentType }
}

const setName = (reply: Reply, path: string): void =>
  reply.header('content-disposition', disposition('attachment', path.slice(path.lastIndexOf('/') + 1)))
