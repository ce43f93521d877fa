import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import { disposition } from '../../api/disposition.ts'
import { notFound } from '../../kernel/failure.ts'
import { findUpload, loadProject, shownMediaType } from '../../modules/projects/index.ts'
import { type Exchange, sendEmpty } from './answer.ts'
import type { HttpContext } from './context.ts'
import { fail } from './fail.ts'
import { openForFiles } from './open-for-files.ts'
import { logAnswer } from './request-log.ts'
import { sendBlob } from './stored-blob.ts'
import { uploadAddress } from './upload-address.ts'
import type { RouteMatcher } from './wildcard-routes.ts'

/** The project, the secret and the file name in the URL of an upload. */
type Address = { readonly path: string; readonly secret: string; readonly filename: string }

/** Files uploaded to projects, for users who can read the project; 404 for anything else. */
export const uploadMatcher =
  (context: HttpContext): RouteMatcher =>
  (method, url) => {
    const found = uploadAddress(url)
    if ((method !== 'GET' && method !== 'HEAD') || found === undefined) return undefined
    const [path, secret, name] = found
    // The router has rejected malformed encoding. The name is only compared with stored ones.
    const asked = { path, secret, filename: decodeURIComponent(name).replaceAll('\0', '/') }
    return {
      route: '/*/uploads/:secret/:filename',
      serve: (exchange, remoteAddress) => serve(exchange, asked, remoteAddress, context),
    }
  }

async function serve(
  exchange: Exchange,
  { path, secret, filename }: Address,
  remoteAddress: string,
  context: HttpContext,
): Promise<void> {
  let ctx: Ctx | undefined
  try {
    ctx = await openForFiles(exchange, remoteAddress, context, ['api', 'read_api'])
    if (!ctx) return
    const project = await loadProject(path, ctx)
    const visible = project && allows(projectPolicy.read_project, ctx.actor, project.facts)
    const upload = visible ? await findUpload(ctx.db, project.id, { secret, filename }) : undefined
    if (!upload) throw notFound('File')
    const type = shownMediaType(upload.filename)
    const sent = await sendBlob(
      exchange,
      ctx.blobs,
      { digest: upload.digest, sizeBytes: upload.size },
      {
        'content-type': type ?? 'application/octet-stream',
        'content-disposition': disposition(type === undefined ? 'attachment' : 'inline', upload.filename),
        'cache-control': 'max-age=0, private, must-revalidate',
      },
    )
    if (!sent) sendEmpty(exchange, 416, { 'content-range': `bytes */${upload.size}`, 'content-length': 0 })
  } catch (error) {
    fail(exchange, error, context)
  } finally {
    logAnswer(context.log, exchange, ctx?.actor ?? null)
  }
}
