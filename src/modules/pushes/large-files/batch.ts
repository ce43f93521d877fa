import type { Ctx } from '../../../api/ctx.ts'
import { httpUrlToRepo } from '../../../api/site.ts'
import { type Digest, parseDigest } from '../../../blobs/blob-store.ts'
import { forbidden } from '../../../kernel/failure.ts'
import { type Credentials, type DerivedFrom, largeFileCredentials, type Operation } from './credentials.ts'
import { claimFiles, isTooLarge, sizesOf } from './service.ts'
import { sizeViolation } from './size-limit.ts'
import type { Storage } from './storage.ts'

/** A file as a client names it, not validated. */
export type Asked = { readonly oid: string; readonly size: number }

type Action = { href: string } & Partial<Omit<Credentials, 'href'>>

/** Answer about one file. Without actions and error the client has nothing to do. */
export type BatchObject = {
  oid: string
  size: number
  authenticated?: true
  actions?: { download: Action } | { upload: Action; verify: Action }
  error?: { code: number; message: string }
}

const missing = {
  code: 404,
  message: "Object does not exist on the server or you don't have permissions to access it",
}
const refused = (message: string) => ({ code: 422, message })

type Sound = { oid: Digest; size: number }
const isSound = (asked: Asked): asked is Sound =>
  parseDigest(asked.oid) !== undefined && Number.isSafeInteger(asked.size) && asked.size >= 0

/** Questions to the store at a time. */
const askedAtOnce = 16

/** The files of which the store has lost bytes: an upload brings them back. */
async function lostOf({ blobs }: Ctx, known: ReadonlyMap<Digest, number>): Promise<ReadonlySet<Digest>> {
  const lost = new Set<Digest>()
  const waiting = known.entries()
  const ask = async () => {
    for (const [oid, size] of waiting) if ((await blobs.size(oid)) !== size) lost.add(oid)
  }
  await Promise.all(Array.from({ length: askedAtOnce }, ask))
  return lost
}

/**
 * Upload or download address of each file, or its error. `from`: the LFS credential that asks. At most six statements for any number of
 * files. Throws `forbidden` if the files to upload would exceed the size limit of the repository together.
 */
export async function answerBatch(
  ctx: Ctx,
  storage: Storage,
  operation: Operation,
  asked: readonly Asked[],
  from?: DerivedFrom,
): Promise<BatchObject[]> {
  const sound = asked.filter(isSound)
  const oids = sound.map(({ oid }) => oid)
  const known = await (operation === 'download' ? sizesOf : claimFiles)(ctx, storage, oids)
  if (operation === 'upload') {
    const added = new Map(
      sound.flatMap(({ oid, size }) => (known.has(oid) || isTooLarge(ctx, size) ? [] : [[oid, size]])),
    )
    const sum = [...added.values()].reduce((before, size) => before + size, 0)
    const tooMuch = sum === 0 ? undefined : await sizeViolation(ctx, storage.project.id, async () => sum)
    if (tooMuch !== undefined) throw forbidden(tooMuch)
  }
  const lost = operation === 'upload' ? await lostOf(ctx, known) : new Set()
  const repository = httpUrlToRepo(ctx.site, storage.project.full_path)
  const credentials = ctx.actor ? await largeFileCredentials(ctx, storage.project, operation, from) : undefined
  const action = (path: string): Action => {
    const { href: _, ...shown } = credentials ?? {}
    return { href: `${repository}/${path}`, ...shown }
  }
  const outcome = ({ oid, size }: Sound): Pick<BatchObject, 'actions' | 'error'> => {
    const stored = known.get(oid)
    if (stored !== undefined && stored !== size)
      return { error: refused(`The object has ${stored} bytes, not ${size}`) }
    if (operation === 'download')
      return stored === undefined ? { error: missing } : { actions: { download: action(`gitlab-lfs/objects/${oid}`) } }
    if (stored !== undefined && !lost.has(oid)) return {}
    if (isTooLarge(ctx, size)) return { error: refused('The object is too large') }
    return {
      actions: { upload: action(`gitlab-lfs/objects/${oid}/${size}`), verify: action('info/lfs/objects/verify') },
    }
  }
  return asked.map((each) => {
    const { oid, size } = each
    if (!isSound(each)) return { oid, size, error: refused('The oid must be a SHA-256 and the size a number of bytes') }
    const found = outcome(each)
    return { oid, size, ...(found.actions && credentials && { authenticated: true as const }), ...found }
  })
}
