import { hash } from 'node:crypto'
import type { StoredBlob } from '../../../blobs/blob-store.ts'
import type { Tx } from '../../../db/db.ts'
import type { PortableRecord } from '../../../db/portable/relation.ts'
import { countLater } from '../blobs/jobs.ts'
import { InvalidManifest, isForeign, type Manifest, parseManifest } from '../manifests/parse.ts'
import { type ContentDigest, isSha256 } from '../names/digests.ts'
import { linkBlobsOf, linkChildrenOf, manifestsOf, type Part } from './queries.ts'

/** By the line of the repository: sizes of what it has, by digest. */
class Sizes {
  readonly #byRepository = new Map<unknown, Map<string, number>>()

  of(record: PortableRecord): Map<string, number> {
    const key = record['repository']
    const known = this.#byRepository.get(key) ?? new Map<string, number>()
    this.#byRepository.set(key, known)
    return known
  }
}

/** The images of an archive while they are imported. Memory holds a digest for each blob and manifest. */
export class ImportedImages {
  readonly #blobs = new Sizes()
  readonly #manifests = new Sizes()

  /** The row of a blob whose bytes are stored, and have its digest; undefined without bytes. */
  blob(record: PortableRecord, stored: StoredBlob | undefined): PortableRecord | undefined {
    if (!stored) return undefined
    const digest = String(record['digest']) as ContentDigest
    this.#blobs.of(record).set(digest, stored.sizeBytes)
    return { ...record, size: stored.sizeBytes, stored_as: isSha256(digest) ? null : stored.digest }
  }

  /** The row of a manifest; undefined if no registry would accept it, or if the archive lacks a part of the image. */
  manifest(record: PortableRecord): PortableRecord | undefined {
    const payload = Buffer.from(String(record['payload']))
    const manifest = parsed(payload, String(record['media_type']))
    const digest = hash(record['algorithm'] === 'sha512' ? 'sha512' : 'sha256', payload, 'hex')
    const known = this.#manifests.of(record)
    if (!manifest || known.has(digest)) return undefined
    const blobs = this.#blobs.of(record)
    const has = (sizes: ReadonlyMap<string, number>) => (part: Manifest['layers'][number]) =>
      sizes.has(part.digest) ? sizes.get(part.digest) === part.size : isForeign(part)
    if (!blobsOf(manifest).every(has(blobs)) || !manifest.manifests.every(has(known))) return undefined
    known.set(digest, payload.length)
    return {
      ...record,
      payload: `\\x${payload.toString('hex')}`,
      digest,
      size: payload.length,
      artifact_type: manifest.artifactType ?? null,
      subject: manifest.subject ?? null,
      annotations: manifest.annotations ? JSON.stringify(manifest.annotations) : null,
      config_digest: manifest.config?.digest ?? null,
    }
  }
}

const blobsOf = ({ config, layers }: Manifest): Manifest['layers'] => [...(config ? [config] : []), ...layers]

function parsed(payload: Buffer, mediaType: string): Manifest | undefined {
  try {
    return parseManifest(payload, mediaType)
  } catch (error) {
    if (error instanceof InvalidManifest) return undefined
    throw error
  }
}

/** Each has at most two thousand parts. */
const manifestsAtOnce = 20

/** Links the imported manifests of a project to their parts, as pushes do, and counts the bytes later. No event. */
export async function restoreImages(tx: Tx, projectId: number): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await manifestsOf(tx, projectId, after, manifestsAtOnce)
    if (rows.length === 0) break
    const blobs: Part[] = []
    const children: Part[] = []
    for (const { id, repository_id: repository, media_type: mediaType, payload } of rows) {
      const manifest = parseManifest(payload, mediaType)
      for (const { digest } of blobsOf(manifest)) blobs.push({ manifest: id, repository, digest })
      for (const { digest } of manifest.manifests) children.push({ manifest: id, repository, digest })
    }
    await linkBlobsOf(tx, blobs)
    if (children.length > 0) await linkChildrenOf(tx, children)
    after = rows.at(-1)!.id
  }
  await countLater(tx, projectId)
}
