import { type Digest, parseDigest } from '../../blobs/blob-store.ts'
import type { Operation } from '../../modules/pushes/index.ts'
import { repositoryPath } from '../../modules/transport/index.ts'

/** The LFS operations on a project. */
export type LfsCall =
  | { kind: 'batch' | 'verify' | 'list_locks' | 'create_lock' | 'verify_locks' | 'old_api' }
  | { kind: 'unlock'; id: string }
  | { kind: 'download'; oid: Digest }
  | { kind: 'upload'; oid: Digest; size: number }

export type LfsRequest = { readonly path: string; readonly call: LfsCall }

/** Both URLs of the content: the one in batch responses, and the one below the API. */
const bytes = '(?:gitlab-lfs|info/lfs)/objects/([0-9a-f]{64})'
const pattern = (rest: string) => new RegExp(`^/${repositoryPath}\\.git/${rest}$`)

const patterns: readonly (readonly [method: RegExp, url: RegExp, call: (...captured: string[]) => LfsCall])[] = [
  [/^POST$/, pattern('info/lfs/objects/batch'), () => ({ kind: 'batch' })],
  [/^POST$/, pattern('info/lfs/objects/verify'), () => ({ kind: 'verify' })],
  [/^POST$/, pattern('info/lfs/objects'), () => ({ kind: 'old_api' })],
  [/^(GET|HEAD)$/, pattern(bytes), (oid) => ({ kind: 'download', oid: parseDigest(oid!)! })],
  [
    /^PUT$/,
    pattern(`${bytes}/(\\d{1,15})`),
    (oid, size) => ({ kind: 'upload', oid: parseDigest(oid!)!, size: Number(size) }),
  ],
  [/^GET$/, pattern('info/lfs/locks'), () => ({ kind: 'list_locks' })],
  [/^POST$/, pattern('info/lfs/locks'), () => ({ kind: 'create_lock' })],
  [/^POST$/, pattern('info/lfs/locks/verify'), () => ({ kind: 'verify_locks' })],
  [/^POST$/, pattern('info/lfs/locks/([^/]+)/unlock'), (id) => ({ kind: 'unlock', id: id! })],
]

/** `undefined` if the URL does not belong to LFS. */
export function parseLfsRequest(method: string, url: string): LfsRequest | undefined {
  const pathname = url.split('?', 1)[0]!
  for (const [verb, address, call] of patterns) {
    const [, path, ...captured] = (verb.test(method) && address.exec(pathname)) || []
    if (path !== undefined) return { path, call: call(...captured) }
  }
  return undefined
}

/** The permission that a call needs; `undefined` if its body determines that. */
export function operationOf({ kind }: LfsCall): Operation | undefined {
  if (kind === 'batch') return undefined
  return kind === 'download' || kind === 'list_locks' ? 'download' : 'upload'
}
