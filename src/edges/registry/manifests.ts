import { ParameterError } from '../../api/params/parameter-error.ts'
import {
  deleteReference,
  findManifest,
  findManifestHead,
  InvalidManifest,
  MissingParts,
  prefixed,
  putManifest,
  type Reference,
  WrongDigest,
} from '../../modules/registry/index.ts'
import { type Headers, sendBody } from '../http/answer.ts'
import { JsonShape } from '../http/body/json.ts'
import { atPace, usualPace } from '../http/body/pace.ts'
import { readBytes } from '../http/body/read-bytes.ts'
import { hasEtag } from '../http/etag.ts'
import { RegistryError, versionHeader } from './errors.ts'
import { type RegistryExchange, sendHeaders } from './registry-exchange.ts'

/** Registries should accept manifests up to this size. Source: OCI distribution specification. */
const maxBytes = 4 * 1024 * 1024
/** More than any manifest of this size has that clients write. */
const maxValues = 100_000

const named = (reference: Reference): string => ('digest' in reference ? prefixed(reference.digest) : reference.tag)

const unknown = (reference: Reference) =>
  new RegistryError('MANIFEST_UNKNOWN', { detail: { reference: named(reference) } })

/** Sends a manifest as it was pushed, whatever the client accepts: another form would have another digest. */
export async function serveManifest({ exchange, ctx, place, name: _ }: RegistryExchange, reference: Reference) {
  const { req } = exchange
  const { project, name } = place
  const isHead = req.method === 'HEAD'
  const found = isHead
    ? await findManifestHead(ctx.db, project.id, name, reference)
    : await findManifest(ctx.db, project.id, name, reference)
  if (!found) throw unknown(reference)
  const etag = `"${prefixed(found.digest)}"`
  const headers: Headers = {
    ...versionHeader,
    'docker-content-digest': prefixed(found.digest),
    'content-type': found.media_type,
    etag,
    'cache-control': 'private, no-cache',
  }
  if (hasEtag(req.headers['if-none-match'], etag))
    return sendHeaders(exchange, 304, { ...headers, 'content-length': found.size })
  if ('payload' in found) return sendBody(exchange, 200, found.payload as Buffer, headers)
  sendHeaders(exchange, 200, { ...headers, 'content-length': found.size })
}

export async function servePutManifest(
  { exchange, ctx, place, name, requireStill }: RegistryExchange,
  reference: Reference,
): Promise<void> {
  const { req } = exchange
  if (req.headers['content-encoding'] !== undefined)
    throw new RegistryError('MANIFEST_INVALID', { message: 'the manifest must not be encoded' })
  const shape = new JsonShape(maxValues)
  const payload = await atPace(req, usualPace, () => readBytes(req, maxBytes, (chunk) => shape.push(chunk))).catch(
    (error: unknown) => {
      if (error instanceof ParameterError) throw new RegistryError('MANIFEST_INVALID', { detail: error.message })
      throw error
    },
  )
  await requireStill()
  const contentType = /^\s*([^;\s]+)/.exec(req.headers['content-type'] ?? '')?.[1]?.toLowerCase()
  try {
    const { digest, subject } = await putManifest(ctx, place, reference, payload, contentType)
    sendHeaders(exchange, 201, {
      location: `/v2/${name}/manifests/${prefixed(digest)}`,
      'docker-content-digest': prefixed(digest),
      ...(subject && { 'oci-subject': prefixed(subject) }),
    })
  } catch (error) {
    if (error instanceof InvalidManifest) throw new RegistryError('MANIFEST_INVALID', { detail: error.message })
    if (error instanceof WrongDigest)
      throw new RegistryError('DIGEST_INVALID', { detail: { digest: named(reference) } })
    if (error instanceof MissingParts)
      throw new RegistryError('MANIFEST_BLOB_UNKNOWN', {
        details: error.digests.map((digest) => ({ digest: prefixed(digest) })),
      })
    throw error
  }
}

export async function serveDeleteManifest(
  { exchange, ctx, place }: RegistryExchange,
  reference: Reference,
): Promise<void> {
  const outcome = await deleteReference(ctx, place, reference)
  if (outcome === 'missing') throw unknown(reference)
  if (outcome === 'used')
    throw new RegistryError('UNSUPPORTED', { message: 'an index has the manifest; delete that first' })
  sendHeaders(exchange, 202)
}
