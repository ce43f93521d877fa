import type { Brand } from '../../kernel/brand.ts'

/** Fully qualified, e.g. `refs/heads/main`. Contains no space, control character or glob, and never starts with `-`. */
export type RefName = Brand<string, 'RefName'>

/** Leaves room for the `.lock` file: file systems allow 255 bytes. */
export const maxSegmentBytes = 250
/** Below the path limit of file systems, with room for the path of the repository. */
export const maxNameBytes = 1024

/**
 * Whether `git check-ref-format` accepts `text`, under `refs/` (the rules of `git help check-ref-format`, in order). Also
 * rejects names that no file system could store, and text that is not well-formed Unicode.
 */
export const isRefName = (text: string): boolean =>
  text.startsWith('refs/') &&
  text.isWellFormed() &&
  Buffer.byteLength(text) <= maxNameBytes &&
  !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/.test(text) &&
  !text.endsWith('.') &&
  text
    .split('/')
    .every(
      (segment) =>
        segment !== '' &&
        !segment.startsWith('.') &&
        !segment.endsWith('.lock') &&
        Buffer.byteLength(segment) <= maxSegmentBytes,
    )

/** `undefined` unless `text` is a fully qualified name that git accepts. */
export const parseRefName = (text: string): RefName | undefined => (isRefName(text) ? (text as RefName) : undefined)

/**
 * The ref of a branch: `main` → `refs/heads/main`. `undefined` unless `git check-ref-format --branch` accepts the name: a
 * branch name must not start with `-` or be `HEAD`.
 */
export const branchRef = (name: string): RefName | undefined =>
  name.startsWith('-') || name === 'HEAD' ? undefined : parseRefName(`refs/heads/${name}`)

/** A new branch cannot have such a name, which is ambiguous with a commit id. */
export const isLikeCommitId = (branch: string): boolean => /^[0-9a-f]{40}$/.test(branch)

/** The ref of a tag: `v1` → `refs/tags/v1`. `undefined` unless `git tag` accepts the name. */
export const tagRef = (name: string): RefName | undefined =>
  name.startsWith('-') || name === 'HEAD' ? undefined : parseRefName(`refs/tags/${name}`)

/** `refs/heads/a/b` → `a/b`; `undefined` if the ref is not a branch. */
export const branchName = (ref: RefName): string | undefined =>
  ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined

/** `refs/tags/v1` → `v1`; `undefined` if the ref is not a tag. */
export const tagName = (ref: RefName): string | undefined =>
  ref.startsWith('refs/tags/') ? ref.slice('refs/tags/'.length) : undefined

/**
 * Compares names in git's order: that of the bytes of UTF-8, which is that of code points and not JavaScript's. Git searches `packed-refs`
 * in this order.
 */
export function compareRefNames(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const left = one.charCodeAt(at)
    const right = other.charCodeAt(at)
    if (left !== right) return placeOf(left) - placeOf(right)
  }
  return one.length - other.length
}

/** Surrogates stand for code points after all that one code unit can be. */
const placeOf = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit)

/** Internal refs: clients can neither fetch, push nor name them. */
export const hiddenRefs = ['refs/keep-around', 'refs/environments', 'refs/pipelines', 'refs/stithy'] as const

/** Refs that clients can fetch but only the server can write. */
export const serverRefs = ['refs/merge-requests'] as const

export const isHiddenRef = (name: string): boolean =>
  hiddenRefs.some((hidden) => name === hidden || name.startsWith(`${hidden}/`))
