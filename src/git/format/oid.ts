import type { Brand } from '../../kernel/brand.ts'

/** Length of an object id, which is a SHA-1 hash: as hex digits, and in trees, indexes of packs and commit-graphs. */
export const oidLength = 40
export const oidBytes = oidLength / 2

/** Full id of an object: 40 lower-case hex digits. */
export type Oid = Brand<string, 'Oid'>

const full = /^[0-9a-f]{40}$/

/** `undefined` unless `text` is a full object id in lower case. Rejects the null id, which names no object. */
export const parseOid = (text: string): Oid | undefined =>
  full.test(text) && !/^0+$/.test(text) ? (text as Oid) : undefined

/** Git's notation for "no object" in ref updates and pre-receive lines. Not an `Oid`. */
export const nullOid = '0'.repeat(oidLength)

/** The tree without entries. Git knows it in every repository, even if it is not stored. */
export const emptyTreeOid = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid
