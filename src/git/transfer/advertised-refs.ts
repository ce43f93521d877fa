import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hiddenRefs, serverRefs } from '../format/ref-name.ts'
import { packedNames, type RefFile, readRefFiles } from '../refs/ref-files.ts'
import type { GitContext } from '../repository/context.ts'
import type { Repository } from '../repository/repository.ts'
import { linesWithFlush } from '../sharing/packets.ts'

/*
 * What `receive-pack` shows a client before a push: the refs that it may change, and what git can do (gitprotocol-pack, "Reference
 * Discovery"). Alternates have no refs that are shown (`core.alternateRefsCommand`).
 */

const unshown = [...hiddenRefs, ...serverRefs]

/** The list for a push by protocol 0 or 2; `undefined` if only git can tell: there are other refs than branches and tags. */
export async function refsForPush(repo: Repository): Promise<Buffer | undefined> {
  if (!(await hasOnlyUsual(repo))) return undefined
  const lists = await Promise.all([readRefFiles(repo, 'refs/heads'), readRefFiles(repo, 'refs/tags')])
  const shown: RefFile[] = []
  for (const list of lists) {
    if (list === 'ask') return undefined
    shown.push(...list)
  }
  const able = await capabilities(repo.git)
  const lines = shown.map(({ name, oid }) => `${oid} ${name}`)
  const [first = `${'0'.repeat(40)} capabilities^{}`, ...others] = lines
  return linesWithFlush([`${first}\0${able}\n`, ...others.map((line) => `${line}\n`)])
}

/** Whether branches and tags are the only refs that a client may change. */
async function hasOnlyUsual(repo: Repository): Promise<boolean> {
  const isUsual = (name: string) => /^refs\/(?:heads|tags)(?:\/|$)/.test(name) || isUnshown(name)
  const folders = await readdir(join(repo.gitDir, 'refs'))
  const packed = packedNames(repo)
  return packed !== 'ask' && folders.every((name) => isUsual(`refs/${name}`)) && packed.every(isUsual)
}

const isUnshown = (name: string): boolean => unshown.some((hidden) => name === hidden || name.startsWith(`${hidden}/`))

const known = new WeakMap<GitContext, Promise<string>>()

/** What git offers for a push with our settings: the same for each repository. */
function capabilities(git: GitContext): Promise<string> {
  let asked = known.get(git)
  if (!asked) {
    asked = askGit(git)
    known.set(git, asked)
    asked.catch(() => known.delete(git))
  }
  return asked
}

async function askGit(git: GitContext): Promise<string> {
  const child = await git.runner.start(
    ['receive-pack', '--stateless-rpc', '--http-backend-info-refs', await git.emptyDir()],
    { lane: 'short', owner: '', caller: '', timeoutMs: git.timeouts().processMs },
  )
  let text = ''
  for await (const chunk of child as AsyncIterable<Buffer>) text += chunk.toString('latin1')
  const { code } = await child.done
  const found = /^[0-9a-f]{4}0{40} capabilities\^\{\}\0([^\n]+)\n0000$/.exec(text)?.[1]
  if (code !== 0 || found === undefined) throw new Error('git did not say what it can do for a push')
  return found
}
