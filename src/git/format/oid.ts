import type { Brand } from '../../kernel/brand.ts'

/** 40 (sha1) or 64 (sha256) lower-case hex digits: the full name of an object. */
export type Oid = Brand<string, 'Oid'>

const full = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** `undefined` unless `text` is a full object name in lower case. The null id is refused: it names nothing. */
export const parseOid = (text: string): Oid | undefined =>
  full.test(text) && !/^0+$/.test(text) ? (text as Oid) : undefined

/** How git spells "no object" in ref updates and pre-receive lines. Not an `Oid`. */
export const nullOid = '0'.repeat(40)

/** The tree without entries. Git knows it in every repository, stored or not. */
export const emptyTreeOid = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid
