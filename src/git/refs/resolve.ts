import { type Oid, oidLength } from '../format/oid.ts'
import { isHiddenRef, isRefName, maxNameBytes, type RefName } from '../format/ref-name.ts'
import { objectInfo } from '../objects/cat-file.ts'
import { commitsOfObjects } from '../objects/read-object.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { isBrokenRef, readFirstRef } from './ref-files.ts'

export type Revision = {
  /** The commit id. */
  readonly oid: Oid
  /** The ref that the text names; `undefined` for a commit id. `HEAD` for the default branch. */
  readonly ref: RefName | 'HEAD' | undefined
}

export type ResolveOptions = {
  /** Preferred kind if a branch and a tag have the same name. Default `tag`. */
  prefer?: 'tag' | 'branch'
  /** Considers only this kind of ref. */
  only?: 'tag' | 'branch'
}

/**
 * Resolves a user's text to a commit, in git's order: a full commit id; `HEAD`; a full ref name; a tag, a branch; `heads/x`,
 * `merge-requests/1/head`; a unique abbreviation of a commit id, at least four digits. `undefined` if it names no commit,
 * `Failure('unavailable')` if it names a ref whose object is lost.
 * Suffixes for ancestors are allowed (`main~2`, `HEAD^2`). Rejects the rest of git's revision syntax (`@{-1}`, `:/text`,
 * `a..b`, `^{/…}`) and hidden refs. Reads ref files and objects. No process.
 */
export async function resolve(repo: Repository, text: string, options: ResolveOptions = {}): Promise<Oid | undefined> {
  return (await findRevision(repo, text, options))?.oid
}

/** Maximum characters of a user's text: a ref name with steps to an ancestor. */
const longestText = 2 * maxNameBytes

/** Like `resolve`, with the ref that the text names. */
export async function findRevision(
  repo: Repository,
  text: string,
  options: ResolveOptions = {},
): Promise<Revision | undefined> {
  if (text.length > longestText) return undefined
  const steps = options.only ? null : stepsToAncestor.exec(text)
  if (steps) return ancestorOf(repo, await findRevision(repo, steps[1]!, options), steps[2]!)
  const isHex = !options.only && /^[0-9a-f]{4,40}$/i.test(text)
  const isFull = isHex && text.length === oidLength
  const byId = async (ask: typeof askForCommit) => {
    const oid = await ask(repo, text.toLowerCase())
    return oid && { oid, ref: undefined }
  }
  return (
    (isFull ? await byId(askForCommit) : undefined) ??
    (text === 'HEAD' && !options.only ? await askForRevision(repo, text, 'HEAD') : undefined) ??
    (await findRef(repo, namesOf(text, options))) ??
    (isHex && !isFull ? await byId(askForAbbreviated) : undefined)
  )
}

/** Refs cannot contain these characters. The number of digits bounds git's traversal. */
const stepsToAncestor = /^(.*[^~^])((?:[~^]\d{0,5}){1,16})$/s

/** Immutable, therefore cached. */
async function ancestorOf(repo: Repository, of: Revision | undefined, steps: string): Promise<Revision | undefined> {
  if (!of) return undefined
  const spec = `${of.oid}${steps}`
  return memoize(
    repo,
    `ancestor at ${spec}`,
    (repo) => askForRevision(repo, spec, undefined),
    () => 50,
  )
}

async function askForRevision(repo: Repository, spec: string, ref: Revision['ref']): Promise<Revision | undefined> {
  const oid = await askForCommit(repo, spec)
  return oid && { oid, ref }
}

/** The first ref of `names` that refers to a commit. */
async function findRef(repo: Repository, names: readonly RefName[]): Promise<Revision | undefined> {
  const found = readFirstRef(repo, names)
  if (!found) return undefined
  const oid = await commitOfRef(repo, found.name, found.target)
  return oid ? { oid, ref: found.name } : findRef(repo, names.slice(names.indexOf(found.name) + 1))
}

/** The commit that a ref refers to, with annotated tags peeled. */
async function commitOfRef(repo: Repository, ref: RefName, target: Oid | 'ask'): Promise<Oid | undefined> {
  if (target === 'ask') {
    const commit = await askForCommit(repo, ref)
    if (commit === undefined && isBrokenRef(repo, ref)) throw repo.damage(`target of ${ref}`)
    return commit
  }
  const peeled = await memoize(
    repo,
    `peeled ${target}`,
    async (repo) => {
      const oid = await askForCommit(repo, target)
      if (oid === undefined && !(await objectInfo(await repo.objects(), target))) throw repo.damage(`object of ${ref}`)
      return oid && { oid }
    },
    () => 50,
  )
  return peeled?.oid
}

const askForCommit = async (repo: Repository, spec: string): Promise<Oid | undefined> =>
  (await commitsOfObjects(repo, [spec]))[0]

/** Of an abbreviation, which other objects may share. */
const askForAbbreviated = async (repo: Repository, text: string): Promise<Oid | undefined> =>
  (await objectInfo(await repo.objects(), `${text}^{commit}`))?.oid

/** The refs that a text may name, in git's order. */
function namesOf(text: string, { prefer = 'tag', only }: ResolveOptions): RefName[] {
  const kinds = only ? [only] : prefer === 'tag' ? (['tag', 'branch'] as const) : (['branch', 'tag'] as const)
  const names = [
    ...(only ? [] : [text]),
    ...kinds.map((kind) => (kind === 'tag' ? `refs/tags/${text}` : `refs/heads/${text}`)),
    ...(only || !text.includes('/') ? [] : [`refs/${text}`]),
  ]
  return names.filter((name): name is RefName => isRefName(name) && !isHiddenRef(name))
}
