import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { missingAs } from '../../kernel/missing.ts'
import { isFlush, textOf } from '../format/packets.ts'
import { branchRef } from '../format/ref-name.ts'
import type { RefFile } from '../refs/packed-refs.ts'
import { readRefFile, readRefFiles } from '../refs/ref-files.ts'
import { commitsOf } from '../refs/ref-objects.ts'
import type { Repository } from '../repository/repository.ts'
import { hasOnlyUsual, isLong, shortList } from './advertised-refs.ts'

/** A request `ls-refs` of protocol 2 (gitprotocol-v2). */
type Asked = {
  readonly peel: boolean
  readonly symrefs: boolean
  readonly unborn: boolean
  /** None: all refs. */
  readonly prefixes: readonly string[]
}

const maxPrefixes = 1000

/** Comparisons of names with prefixes; git does more of them elsewhere. */
const maxComparisons = 2_000_000

/**
 * The answer to a request for refs, from their files; `undefined` if git has to answer: it is another request, or one for refs that are neither
 * branches nor tags, or the list is long.
 */
export async function listedRefs(repo: Repository, packets: readonly Buffer[]): Promise<Buffer | undefined> {
  const asked = parse(packets)
  if (!asked || !(await repo.exists())) return undefined
  const mayName = (name: string) =>
    asked.prefixes.length === 0 || asked.prefixes.some((prefix) => name.startsWith(prefix))
  const isOnlyUsual = await hasOnlyUsual(repo, { with: mayNameOfMergeRequests(asked) ? [] : ['refs/merge-requests'] })
  if (!isOnlyUsual) return undefined
  const lines: string[] = []
  const head = mayName('HEAD') ? await lineOfHead(repo, asked) : []
  if (!head) return undefined
  lines.push(...head)
  for (const below of ['refs/heads', 'refs/tags'] as const) {
    if (!mayNameBelow(asked, `${below}/`)) continue
    const refs = await readRefFiles(repo, below)
    if (refs === 'ask') return undefined
    if (refs.length * asked.prefixes.length > maxComparisons) return undefined
    // Lines of all refs are kept, unless there are more than the client may be shown here.
    const shown = isLong(refs) ? refs.filter(({ name }) => mayName(name)) : refs
    const found = isLong(shown) ? undefined : await linesOf(repo, shown, asked.peel)
    if (!found) return undefined
    for (const [index, { name }] of shown.entries()) if (mayName(name)) lines.push(found[index]!)
  }
  return shortList(lines)
}

function parse(packets: readonly Buffer[]): Asked | undefined {
  if (!isFlush(packets.at(-1)!) || packets.length > maxPrefixes) return undefined
  const [command, ...rest] = packets.slice(0, -1).map(textOf)
  if (command !== 'command=ls-refs') return undefined
  const isUsual = (text: string) => /^(?:agent=.*|object-format=sha1|peel|symrefs|unborn|ref-prefix .*|)$/.test(text)
  if (!rest.every(isUsual)) return undefined
  return {
    peel: rest.includes('peel'),
    symrefs: rest.includes('symrefs'),
    unborn: rest.includes('unborn'),
    prefixes: rest.flatMap((text) => (text.startsWith('ref-prefix ') ? text.slice('ref-prefix '.length) : [])),
  }
}

/** Whether a name below this folder may begin with one of the prefixes. */
const mayNameBelow = ({ prefixes }: Asked, folder: string): boolean =>
  prefixes.length === 0 || prefixes.some((prefix) => folder.startsWith(prefix) || prefix.startsWith(folder))

const mayNameOfMergeRequests = (asked: Asked): boolean => mayNameBelow(asked, 'refs/merge-requests/')

/** The line of `HEAD`, if there is one. `undefined` if only git can tell. */
async function lineOfHead(repo: Repository, { symrefs, unborn }: Asked): Promise<string[] | undefined> {
  const head = await readFile(join(repo.gitDir, 'HEAD'), 'utf8').catch(missingAs(''))
  const branch = /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1]
  const name = branch === undefined ? undefined : branchRef(branch)
  if (!name) return undefined
  const oid = readRefFile(repo, name)
  if (oid === 'ask') return undefined
  const target = symrefs ? ` symref-target:${name}` : ''
  if (oid !== undefined) return [`${oid} HEAD${target}\n`]
  return unborn && symrefs ? [`unborn HEAD${target}\n`] : []
}

/** Lines of lists, which are the same objects until a ref moves. */
const known = { plain: new WeakMap<object, readonly string[]>(), peeled: new WeakMap<object, readonly string[]>() }

/** A line for each ref. `undefined` if a tag leads to something else than a commit, or there are too many outside the commit-graph. */
async function linesOf(
  repo: Repository,
  refs: readonly RefFile[],
  peel: boolean,
): Promise<readonly string[] | undefined> {
  const lines = known[peel ? 'peeled' : 'plain']
  const found = lines.get(refs)
  if (found) return found
  const commits = peel
    ? await commitsOf(
        repo,
        refs.map(({ oid }) => oid),
      )
    : undefined
  if (peel && !(commits && refs.every(({ oid }) => commits.has(oid)))) return undefined
  const made = refs.map(({ name, oid }) => {
    const commit = commits?.get(oid) ?? oid
    return `${oid} ${name}${commit === oid ? '' : ` peeled:${commit}`}\n`
  })
  lines.set(refs, made)
  return made
}
