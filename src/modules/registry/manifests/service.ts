import { hash } from 'node:crypto'
import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import type { Place } from '../access/access.ts'
import { findBlob } from '../blobs/queries.ts'
import { inLockedRepository } from '../images/push.ts'
import { findRepositoryId, lockRepository } from '../images/queries.ts'
import { algorithmOf, type ContentDigest, prefixed } from '../names/digests.ts'
import { deleteTags, setTag, tagsOfManifest } from '../tags/queries.ts'
import { recordDeletion } from '../tags/record-deletion.ts'
import { creationTimeOf } from './image-config.ts'
import { type Descriptor, InvalidManifest, isForeign, type Manifest, parseManifest } from './parse.ts'
import { hideManifest, lockBlobs, lockManifests, type Reference, saveManifest } from './queries.ts'

/** Blobs or manifests that a manifest names and the repository does not have. */
export class MissingParts extends Error {
  override name = 'MissingParts'
  readonly digests: readonly ContentDigest[]
  constructor(digests: readonly ContentDigest[]) {
    super('the manifest names what the repository does not have')
    this.digests = digests
  }
}

/** The bytes do not have the digest by which they are pushed. */
export class WrongDigest extends Error {
  override name = 'WrongDigest'
}

export type Pushed = { readonly digest: ContentDigest; readonly subject: ContentDigest | undefined }

/** Stores a manifest, and makes a tag name it. Throws `InvalidManifest`, `MissingParts` or `WrongDigest`. */
export async function putManifest(
  ctx: Ctx,
  place: Place,
  reference: Reference,
  payload: Buffer,
  contentType: string | undefined,
): Promise<Pushed> {
  const { project, name } = place
  const algorithm = 'digest' in reference ? algorithmOf(reference.digest) : 'sha256'
  const digest = hash(algorithm, payload, 'hex') as ContentDigest
  if ('digest' in reference && reference.digest !== digest) throw new WrongDigest()
  const manifest = parseManifest(payload, contentType)
  const { config, layers, subject } = manifest
  // Nothing is read from a blob that the repository does not have.
  const linkedConfig =
    manifest.hasImageConfig && config ? await findBlob(ctx.db, project.id, name, config.digest) : undefined
  const builtAt = linkedConfig ? await creationTimeOf(ctx, linkedConfig) : null
  await inLockedRepository(ctx, place, async (tx, repositoryId) => {
    const blobs = [...(config ? [config] : []), ...layers]
    const linked = await lockBlobs(
      tx,
      repositoryId,
      blobs.map((blob) => blob.digest),
    )
    const children = await lockManifests(
      tx,
      repositoryId,
      manifest.manifests.map((child) => child.digest),
    )
    requireAll(blobs, linked)
    requireAll(manifest.manifests, children)
    const manifestId = await saveManifest(tx, repositoryId, {
      digest,
      mediaType: manifest.mediaType,
      artifactType: manifest.artifactType ?? null,
      payload,
      subject: subject ?? null,
      annotations: manifest.annotations ? JSON.stringify(manifest.annotations) : null,
      configDigest: config?.digest ?? null,
      totalSize: sum([...layers.map(({ size }) => size), ...children.map((child) => child.total_size)]),
      imageCreatedAt: builtAt ?? newest(children.map((child) => child.image_created_at)),
      blobs: linked.map((blob) => blob.digest),
      children: children.map(({ id }) => id),
    })
    if ('tag' in reference) await setTag(tx, repositoryId, reference.tag, manifestId)
    await emit(tx, {
      kind: 'container_image_pushed',
      projectId: project.id,
      actorId: ctx.actor && accountOf(ctx.actor),
      payload: { repository_id: repositoryId, digest, ...('tag' in reference && { tag: reference.tag }) },
    })
  })
  return { digest, subject }
}

/** Layers that are stored elsewhere have the sizes that clients claim, and indexes repeat them: what is too much for a record is cut. */
const sum = (sizes: readonly number[]): number =>
  Math.min(
    sizes.reduce((total, size) => total + size, 0),
    Number.MAX_SAFE_INTEGER,
  )

const newest = (times: readonly (string | null)[]): string | null =>
  times.reduce((latest, time) => (time !== null && (latest === null || time > latest) ? time : latest), null)

/** Throws unless the repository has all of them with the size that the manifest says. */
function requireAll(
  named: Manifest['layers'],
  stored: readonly { readonly digest: ContentDigest; readonly size: number }[],
): void {
  const sizes = new Map(stored.map(({ digest, size }) => [digest, size]))
  const isMissing = (part: Descriptor) => !sizes.has(part.digest) && !isForeign(part)
  const missing = named.filter(isMissing).map(({ digest }) => digest)
  if (missing.length > 0) throw new MissingParts([...new Set(missing)])
  const wrong = named.find(({ digest, size }) => sizes.has(digest) && sizes.get(digest) !== size)
  if (wrong)
    throw new InvalidManifest(`${prefixed(wrong.digest)} has ${sizes.get(wrong.digest)} bytes, not ${wrong.size}`)
}

/**
 * Deletes a tag, or a manifest with all its tags. Both can be restored within the retention time. `used` if an index has the
 * manifest, which would be broken without it.
 */
export async function deleteReference(
  ctx: Ctx,
  { project, name }: Place,
  reference: Reference,
): Promise<'deleted' | 'missing' | 'used'> {
  const found = await findRepositoryId(ctx.db, project.id, name)
  if (found === undefined) return 'missing'
  return ctx.transaction(async (tx) => {
    const repositoryId = await lockRepository(tx, found)
    if (repositoryId === undefined) return 'missing'
    const manifestId = 'digest' in reference ? await hideManifest(tx, repositoryId, reference.digest) : undefined
    if (manifestId === 'used') return 'used'
    if ('digest' in reference && manifestId === undefined) return 'missing'
    const names = 'tag' in reference ? [reference.tag] : await tagsOfManifest(tx, manifestId!)
    const gone = await deleteTags(tx, repositoryId, names)
    if ('tag' in reference && gone.length === 0) return 'missing'
    await recordDeletion(
      tx,
      ctx.actor && accountOf(ctx.actor),
      { id: repositoryId, project_id: project.id, full_path: project.full_path, name },
      gone,
      'digest' in reference ? reference.digest : undefined,
    )
    return 'deleted'
  })
}
