import { type ContentDigest, parsePrefixedDigest } from '../names/digests.ts'

/** Media types of what the registry stores as manifests. */
const images: ReadonlySet<string> = new Set([
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
])
const indexes: ReadonlySet<string> = new Set([
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.index.v1+json',
])
/** Of release candidates of OCI 1.1; clients of that time push it. */
const artifact = 'application/vnd.oci.artifact.manifest.v1+json'

/** Configurations that describe an image. */
const imageConfigs: ReadonlySet<string> = new Set([
  'application/vnd.docker.container.image.v1+json',
  'application/vnd.oci.image.config.v1+json',
])

export const isManifestType = (mediaType: string): boolean =>
  images.has(mediaType) || indexes.has(mediaType) || mediaType === artifact

export type Descriptor = { readonly mediaType: string; readonly digest: ContentDigest; readonly size: number }

export type Manifest = {
  readonly mediaType: string
  readonly artifactType: string | undefined
  /** Of the manifest that this one is about. */
  readonly subject: ContentDigest | undefined
  readonly annotations: Readonly<Record<string, string>> | undefined
  readonly config: Descriptor | undefined
  /** The configuration describes an image and says when it was built. */
  readonly hasImageConfig: boolean
  readonly layers: readonly Descriptor[]
  /** Manifests of an index. */
  readonly manifests: readonly Descriptor[]
}

/** A manifest that breaks a rule; the message is a sentence for the client. */
export class InvalidManifest extends Error {
  override name = 'InvalidManifest'
}

/** More than any image has; it limits the rows and the sums of one manifest. */
const maxDescriptors = 2000
/** A pebibyte. */
const maxSize = 2 ** 50
const restricted = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}'
const mediaTypeForm = new RegExp(`^${restricted}/${restricted}$`)

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses and checks the bytes of a manifest. `contentType` is that of the request, if it names one. */
export function parseManifest(payload: Buffer, contentType: string | undefined): Manifest {
  const fields = parseJson(payload)
  const own = optionalType(fields['mediaType'], 'mediaType')
  const mediaType = contentType ?? own
  if (mediaType === undefined || !isManifestType(mediaType))
    throw new InvalidManifest(`${mediaType ?? 'a manifest without a media type'} is not supported`)
  if (own !== undefined && own !== mediaType)
    throw new InvalidManifest(`the media type is ${own}, and the Content-Type ${mediaType}`)
  if (mediaType !== artifact && fields['schemaVersion'] !== 2) throw new InvalidManifest('schemaVersion is not 2')
  const isIndex = indexes.has(mediaType)
  const isImage = images.has(mediaType)
  // A manifest that is both could be read as either (CVE-2021-41190).
  for (const field of isIndex ? ['config', 'layers', 'fsLayers'] : ['manifests', 'fsLayers'])
    if (fields[field] !== undefined) throw new InvalidManifest(`${field} does not belong to ${mediaType}`)
  const config = isImage ? descriptor(fields['config'], 'config') : undefined
  return {
    mediaType,
    artifactType: optionalType(fields['artifactType'], 'artifactType') ?? config?.mediaType,
    subject: fields['subject'] == null ? undefined : descriptor(fields['subject'], 'subject').digest,
    annotations: annotationsOf(fields['annotations']),
    config,
    hasImageConfig: config !== undefined && imageConfigs.has(config.mediaType),
    layers: isIndex ? [] : descriptors(fields[isImage ? 'layers' : 'blobs'] ?? [], isImage ? 'layers' : 'blobs'),
    manifests: isIndex ? descriptors(fields['manifests'], 'manifests') : [],
  }
}

function parseJson(payload: Buffer): Fields {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
  } catch {
    throw new InvalidManifest('the manifest is not JSON')
  }
  if (!isFields(value)) throw new InvalidManifest('the manifest is not a JSON object')
  return value
}

function optionalType(value: unknown, name: string): string | undefined {
  if (value == null || value === '') return undefined
  if (typeof value !== 'string' || !mediaTypeForm.test(value)) throw new InvalidManifest(`${name} is not a media type`)
  return value
}

function annotationsOf(value: unknown): Manifest['annotations'] {
  if (value == null) return undefined
  if (!isFields(value) || Object.values(value).some((text) => typeof text !== 'string'))
    throw new InvalidManifest('annotations are not texts by name')
  return value as Readonly<Record<string, string>>
}

function descriptor(value: unknown, name: string): Descriptor {
  if (!isFields(value)) throw new InvalidManifest(`${name} is not a descriptor`)
  const { digest, size } = value
  const mediaType = optionalType(value['mediaType'], `the media type of ${name}`)
  const parsed = typeof digest === 'string' ? parsePrefixedDigest(digest) : undefined
  if (mediaType === undefined) throw new InvalidManifest(`${name} has no media type`)
  if (parsed === undefined) throw new InvalidManifest(`${name} has no SHA-256 or SHA-512 digest`)
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0 || size > maxSize)
    throw new InvalidManifest(`${name} has no size`)
  return { mediaType, digest: parsed, size }
}

function descriptors(value: unknown, name: string): Descriptor[] {
  if (!Array.isArray(value)) throw new InvalidManifest(`${name} is not a list`)
  if (value.length > maxDescriptors) throw new InvalidManifest(`${name} has more than ${maxDescriptors} entries`)
  return value.map((each, index) => descriptor(each, `${name}[${index}]`))
}

/** Whether the layer may be stored elsewhere, so that the repository need not have it. */
export const isForeign = ({ mediaType }: Descriptor): boolean =>
  mediaType.startsWith('application/vnd.docker.image.rootfs.foreign.') ||
  mediaType.startsWith('application/vnd.oci.image.layer.nondistributable.')
