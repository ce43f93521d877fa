import type { Oid } from './oid.ts'
import type { RefName } from './ref-name.ts'
import { listRefs, listRefTips, type Ref, type RefTip } from './refs.ts'
import { remember } from './remember.ts'
import type { Repository } from './repository.ts'

/** Whether `descendant` is `ancestor` or has it in its history. One process, remembered. Throws when one is no commit. */
export async function isAncestor(repo: Repository, ancestor: Oid, descendant: Oid): Promise<boolean> {
  if (ancestor === descendant) return true
  const make = async () => {
    const { code } = await repo.run('merge-base', {
      flags: ['--is-ancestor'],
      args: [ancestor, descendant],
      accept: [0, 1],
    })
    return { yes: code === 0 }
  }
  return (await remember(repo, `ancestor ${ancestor} ${descendant}`, make, () => 50)).yes
}

/**
 * Those of some branches whose commit is part of the history of `head` without being `head` itself: they were merged. One
 * process, whatever their number.
 */
export async function mergedInto(
  repo: Repository,
  head: Oid,
  branches: readonly RefTip[],
): Promise<ReadonlySet<RefName>> {
  const others = branches.filter(({ oid }) => oid !== head)
  if (others.length === 0) return new Set()
  const found = await listRefTips(
    repo,
    others.map(({ name }) => name),
    { mergedInto: head },
  )
  return new Set(found.map(({ name }) => name))
}

/**
 * The best common ancestor of two commits, or of the first with all the others; `undefined` when their histories have
 * nothing in common. One process, remembered. Throws when one is no commit.
 */
export async function mergeBase(repo: Repository, ...commits: readonly [Oid, Oid, ...Oid[]]): Promise<Oid | undefined> {
  const make = async () => {
    // With more than two, git would otherwise answer for a merge of the others.
    const flags = commits.length > 2 ? (['--octopus'] as const) : []
    const { stdout } = await repo.run('merge-base', { flags, args: commits, accept: [0, 1] })
    return { oid: (stdout.toString('latin1').split('\n')[0] || undefined) as Oid | undefined }
  }
  return (await remember(repo, `merge-base ${commits.join(' ')}`, make, () => 100)).oid
}

/**
 * The best common ancestors of the first commit and a merge of all the others, best first, as `git merge-base --all`
 * names them; empty when there are none. One process, remembered. Throws when one is no commit.
 */
export async function mergeBases(repo: Repository, ...commits: readonly [Oid, Oid, ...Oid[]]): Promise<readonly Oid[]> {
  const make = async () => {
    const { stdout } = await repo.run('merge-base', { flags: ['--all'], args: commits, accept: [0, 1] })
    return {
      oids: stdout
        .toString('latin1')
        .split('\n')
        .filter((line) => line !== '') as Oid[],
    }
  }
  return (await remember(repo, `merge-bases ${commits.join(' ')}`, make, ({ oids }) => 100 + 50 * oids.length)).oids
}

/** Commits that only `left` has, and that only `right` has. One process, remembered. */
export function aheadBehind(
  repo: Repository,
  left: Oid,
  right: Oid,
): Promise<{ readonly left: number; readonly right: number }> {
  const make = async () => {
    const { stdout } = await repo.run('rev-list', { flags: ['--left-right', '--count'], args: [`${left}...${right}`] })
    const [onlyLeft, onlyRight] = stdout.toString('latin1').trim().split('\t')
    return { left: Number(onlyLeft), right: Number(onlyRight) }
  }
  return remember(repo, `left-right ${left} ${right}`, make, () => 60)
}

/** Branches and tags (or those of `prefixes`) from which the commit can be reached, by name. One process. */
export const refsContaining = (
  repo: Repository,
  commit: Oid,
  { prefixes = ['refs/heads/', 'refs/tags/'], limit }: { prefixes?: readonly string[]; limit?: number } = {},
): Promise<Ref[]> => listRefs(repo, prefixes, { containing: commit, ...(limit !== undefined && { limit }) })
