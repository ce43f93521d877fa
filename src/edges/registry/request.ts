import {
  type ContentDigest,
  isRepositoryName,
  isTagName,
  parsePrefixedDigest,
  type Reference,
  type RegistryAction,
} from '../../modules/registry/index.ts'
import { RegistryError } from './errors.ts'

/** What a request asks of a repository. */
export type RegistryCall =
  | { readonly kind: 'tags' }
  | { readonly kind: 'manifest'; readonly reference: Reference }
  | { readonly kind: 'blob' | 'referrers'; readonly digest: ContentDigest }
  | { readonly kind: 'uploads' }
  | { readonly kind: 'upload'; readonly id: string }

export type RegistryRequest =
  | { readonly of: 'registry'; readonly kind: 'base' | 'catalog' }
  | { readonly of: 'repository'; readonly name: string; readonly call: RegistryCall }

type Actions = readonly [RegistryAction, ...RegistryAction[]]

const pull: Actions = ['pull']
const push: Actions = ['push']
const remove: Actions = ['delete']
/** Clients that push ask first what exists. The response has no content. */
const exists: Actions = ['pull', 'push']

/** The actions of which each method of a call needs one. */
const methods: Readonly<Record<RegistryCall['kind'], Readonly<Record<string, Actions>>>> = {
  tags: { GET: pull, HEAD: pull },
  referrers: { GET: pull, HEAD: pull },
  manifest: { GET: pull, HEAD: exists, PUT: push, DELETE: remove },
  blob: { GET: pull, HEAD: exists, DELETE: remove },
  uploads: { POST: push },
  upload: { GET: push, HEAD: push, PATCH: push, PUT: push, DELETE: push },
}

/** The actions of which a call needs one; a challenge names the first. Throws `UNSUPPORTED` for methods that it does not have. */
export function actionsOf(method: string, { kind }: RegistryCall): Actions {
  const actions = methods[kind][method]
  if (actions === undefined) throw notAllowed(Object.keys(methods[kind]))
  return actions
}

export const notAllowed = (allowed: readonly string[]): RegistryError =>
  new RegistryError('UNSUPPORTED', { headers: { allow: allowed.join(', ') } })

const forms: readonly (readonly [url: RegExp, call: (argument: string) => RegistryCall])[] = [
  [/^(.+)\/tags\/list$/, () => ({ kind: 'tags' })],
  [/^(.+)\/manifests\/([^/]+)$/, (text) => ({ kind: 'manifest', reference: parseReference(text) })],
  [/^(.+)\/blobs\/uploads\/?$/, () => ({ kind: 'uploads' })],
  [/^(.+)\/blobs\/uploads\/([^/]+)$/, (id) => ({ kind: 'upload', id })],
  [/^(.+)\/blobs\/([^/]+)$/, (text) => ({ kind: 'blob', digest: parseDigestOf(text) })],
  [/^(.+)\/referrers\/([^/]+)$/, (text) => ({ kind: 'referrers', digest: parseDigestOf(text) })],
]

/** Longer paths name nothing. */
const maxPathLength = 1024

/** Parses the path of a URL below `/v2`. Throws a `RegistryError` if it is none of the registry. */
export function parseRegistryPath(pathname: string): RegistryRequest {
  const path = pathname.length > maxPathLength ? undefined : decoded(pathname.replace(/^\/v2\/?/, ''))
  if (path === '') return { of: 'registry', kind: 'base' }
  if (path === '_catalog') return { of: 'registry', kind: 'catalog' }
  for (const [url, callOf] of forms) {
    const [, name, argument] = (path !== undefined && url.exec(path)) || []
    if (name === undefined) continue
    if (!isRepositoryName(name)) throw new RegistryError('NAME_INVALID', { detail: { name } })
    return { of: 'repository', name, call: callOf(argument ?? '') }
  }
  throw new RegistryError('UNSUPPORTED', { status: 404, message: 'not a path of the registry' })
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

export function parseDigestOf(text: string): ContentDigest {
  const digest = parsePrefixedDigest(text)
  if (digest === undefined)
    throw new RegistryError('DIGEST_INVALID', {
      message: 'the digest is not a SHA-256 or SHA-512 digest',
      detail: { digest: text },
    })
  return digest
}

function parseReference(text: string): Reference {
  if (text.includes(':')) return { digest: parseDigestOf(text) }
  if (!isTagName(text)) throw new RegistryError('TAG_INVALID', { detail: { tag: text } })
  return { tag: text }
}
