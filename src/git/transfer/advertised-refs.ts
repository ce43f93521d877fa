import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { missingAs } from '../../kernel/missing.ts'
import { endsWithFlush, linesWithFlush } from '../format/packets.ts'
import { hiddenRefs, serverRefs } from '../format/ref-name.ts'
import type { RefFile } from '../refs/packed-refs.ts'
import { packedFolders, readRefFiles } from '../refs/ref-files.ts'
import type { GitContext } from '../repository/context.ts'
import type { Repository } from '../repository/repository.ts'

/*
 * What `receive-pack` shows a client before a push: the refs that it may change, and what git can do (gitprotocol-pack, "Reference
 * Discovery"). Alternates have no refs that are shown (`core.alternateRefsCommand`).
 */

/** Longer lists are made by git, whose slots and memory have limits: any number of clients may read slowly. Some 4,000 refs. */
const maxListBytes = 256 * 1024

/** Fewest bytes of a line: an object id and a name below `refs/heads/`. */
const leastLineBytes = 50

/** Whether the lines of refs are too long in any case. */
export const isLong = (refs: readonly RefFile[]): boolean => refs.length > maxListBytes / leastLineBytes

/** Lines of a list; `undefined` if they are too long. */
export function shortList(lines: readonly string[]): Buffer | undefined {
  const list = linesWithFlush(lines)
  return list.length <= maxListBytes ? list : undefined
}

/**
 * The list for a push by protocol 0 or 2, without refs whose files are damaged; `undefined` if only git can tell: there are other refs than branches
 * and tags.
 */
export async function refsForPush(repo: Repository): Promise<Buffer | undefined> {
  if (!(await hasOnlyUsual(repo, { with: serverRefs }))) return undefined
  const lists = await Promise.all(
    (['refs/heads', 'refs/tags'] as const).map((below) => readRefFiles(repo, below, { broken: 'omit' })),
  )
  const shown: RefFile[] = []
  for (const list of lists) {
    if (list === 'ask' || isLong(list)) return undefined
    shown.push(...list)
  }
  const able = await pushCapabilities(repo.git)
  const lines = shown.map(({ name, oid }) => `${oid} ${name}`)
  const [first = `${'0'.repeat(40)} capabilities^{}`, ...others] = lines
  return shortList([`${first}\0${able}\n`, ...others.map((line) => `${line}\n`)])
}

/** Whether there are no other refs than branches, tags, hidden ones, and those in the folders `with`. */
export async function hasOnlyUsual(repo: Repository, { with: others }: { with: readonly string[] }): Promise<boolean> {
  const usual = new Set<string>(['refs/heads', 'refs/tags', ...hiddenRefs, ...others])
  const folders = await readdir(join(repo.gitDir, 'refs')).catch(missingAs(undefined))
  const packed = packedFolders(repo)
  return (
    folders !== undefined &&
    packed !== 'ask' &&
    [...folders.map((name) => `refs/${name}`), ...packed].every((name) => usual.has(name))
  )
}

/** What git offers by protocol 2 to a client that fetches: the same for each repository. */
export const fetchCapabilities = (git: GitContext): Promise<Buffer> => askedOnce(git, 'upload-pack')

/** What git offers for a push: the same for each repository. */
async function pushCapabilities(git: GitContext): Promise<string> {
  const text = (await askedOnce(git, 'receive-pack')).toString('latin1')
  const found = /^[0-9a-f]{4}0{40} capabilities\^\{\}\0([^\n]+)\n0000$/.exec(text)?.[1]
  if (found === undefined) throw new Error('git did not say what it can do for a push')
  return found
}

type Side = 'receive-pack' | 'upload-pack'

const answers = {
  'receive-pack': new WeakMap<GitContext, Promise<Buffer>>(),
  'upload-pack': new WeakMap<GitContext, Promise<Buffer>>(),
}

/** What git says first of an empty repository, with our settings. */
function askedOnce(git: GitContext, side: Side): Promise<Buffer> {
  const known = answers[side].get(git)
  if (known) return known
  const asked = ask(git, side)
  answers[side].set(git, asked)
  asked.catch(() => answers[side].delete(git))
  return asked
}

async function ask(git: GitContext, side: Side): Promise<Buffer> {
  const flags = [...(side === 'upload-pack' ? ['--strict'] : []), '--stateless-rpc', '--http-backend-info-refs']
  const child = await git.runner.start([side, ...flags, await git.emptyDir()], {
    lane: 'short',
    owner: '',
    caller: '',
    timeoutMs: git.timeouts().processMs,
    env: side === 'upload-pack' ? { GIT_PROTOCOL: 'version=2' } : {},
  })
  const said = Buffer.concat(await child.toArray())
  const { code } = await child.done
  if (code !== 0 || !endsWithFlush(said)) throw new Error(`git ${side} did not say what it can do`)
  return said
}
