import type { Oid } from '../format/oid.ts'
import { linesOf } from '../format/records.ts'
import type { RefName } from '../format/ref-name.ts'
import { readCommits } from '../objects/commits.ts'
import { commitsOf } from '../refs/ref-objects.ts'
import { listRefTips, type RefTip } from '../refs/refs.ts'
import { getCached, memoize, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { inDag } from './dag.ts'
import { between, commonAncestors, reachable, reaching } from './reach.ts'

/**
 * These functions read the commit-graph in this process if it covers the history (`dag.ts`), with at most one round trip per
 * commit that the graph lacks; otherwise they run one git process. Results for commits are cached.
 */

/** Whether `descendant` is `ancestor` or has it in its history. Throws if either is not a commit. */
export async function isAncestor(repo: Repository, ancestor: Oid, descendant: Oid): Promise<boolean> {
  if (ancestor === descendant) return true
  const make = async (repo: Repository) => {
    const known = await inDag(repo, [ancestor, descendant], async (dag) => {
      const node = dag.node(ancestor)
      return { yes: (await reachable(dag, dag.node(descendant), [node])).has(node) }
    })
    if (known) return known
    const { code } = await repo.run('merge-base', {
      flags: ['--is-ancestor'],
      args: [ancestor, descendant],
      accept: [0, 1],
      strict: true,
    })
    return { yes: code === 0 }
  }
  return (await memoize(repo, `ancestor ${ancestor} ${descendant}`, make, () => 50)).yes
}

/**
 * The branches whose commit is in the history of `head` but not `head` itself, so they are merged. One traversal for all
 * branches without a cached result.
 */
export async function mergedInto(
  repo: Repository,
  head: Oid,
  branches: readonly RefTip[],
): Promise<ReadonlySet<RefName>> {
  const key = (oid: Oid) => `ancestor ${oid} ${head}`
  const others = branches.filter(({ oid }) => oid !== head)
  const known = new Map(others.map(({ oid }) => [oid, getCached<{ yes: boolean }>(repo, key(oid))?.yes]))
  const unknown = others.filter(({ oid }) => known.get(oid) === undefined)
  const found = unknown.length === 0 ? undefined : await ancestorsOf(repo, head, unknown)
  for (const { oid } of unknown) setCached(repo, key(oid), { yes: found?.has(oid) === true }, 50)
  return new Set(others.filter(({ oid }) => known.get(oid) ?? found?.has(oid)).map(({ name }) => name))
}

/** The commits that are `head` or in its history; skips missing ones. One traversal for all. */
export async function ancestorsAmong(repo: Repository, head: Oid, commits: readonly Oid[]): Promise<ReadonlySet<Oid>> {
  const there = (await readCommits(repo, [...new Set(commits)])).flatMap((commit) => commit?.oid ?? [])
  const known = await knownAncestors(repo, head, there)
  if (known) return known
  const found = new Set<Oid>()
  for (const oid of there) if (await isAncestor(repo, oid, head)) found.add(oid)
  return found
}

const knownAncestors = (repo: Repository, head: Oid, commits: readonly Oid[]): Promise<ReadonlySet<Oid> | undefined> =>
  inDag(repo, [head, ...commits], async (dag) => {
    const found = await reachable(
      dag,
      dag.node(head),
      commits.map((oid) => dag.node(oid)),
    )
    return new Set(commits.filter((oid) => found.has(dag.node(oid))))
  })

/** The commits of `refs` that are in the history of `head`. */
async function ancestorsOf(repo: Repository, head: Oid, refs: readonly RefTip[]): Promise<ReadonlySet<Oid>> {
  const known = await knownAncestors(
    repo,
    head,
    refs.map(({ oid }) => oid),
  )
  if (known) return known
  // Their names may be more than fit into a command line.
  const names = new Set(refs.map(({ name }) => name))
  const merged = await listRefTips(repo, 'refs/heads/', { mergedInto: head })
  return new Set(merged.flatMap(({ name, oid }) => (names.has(name) ? oid : [])))
}

/**
 * The best common ancestor of two commits, or of the first with all others; `undefined` if the histories are unrelated. Throws
 * if one is not a commit.
 */
export async function mergeBase(repo: Repository, ...commits: readonly [Oid, Oid, ...Oid[]]): Promise<Oid | undefined> {
  const make = async (repo: Repository) => {
    const known = commits.length === 2 ? await onlyBase(repo, commits) : undefined
    if (known) return { oid: known[0] }
    // With more than two commits, git would otherwise use a hypothetical merge of the others.
    const flags = commits.length > 2 ? (['--octopus'] as const) : []
    const { stdout } = await repo.run('merge-base', { flags, args: commits, accept: [0, 1], strict: true })
    return { oid: linesOf(stdout)[0] as Oid | undefined }
  }
  return (await memoize(repo, `merge-base ${commits.join(' ')}`, make, () => 100)).oid
}

/**
 * The best common ancestors of the first commit and a hypothetical merge of all others, best first, as `git merge-base --all`
 * lists them; empty if there are none. Throws if one is not a commit.
 */
export async function mergeBases(repo: Repository, ...commits: readonly [Oid, Oid, ...Oid[]]): Promise<readonly Oid[]> {
  const make = async (repo: Repository) => {
    const known = await onlyBase(repo, commits)
    if (known) return { oids: known }
    const { stdout } = await repo.run('merge-base', { flags: ['--all'], args: commits, accept: [0, 1], strict: true })
    return { oids: linesOf(stdout) as Oid[] }
  }
  return (await memoize(repo, `merge-bases ${commits.join(' ')}`, make, ({ oids }) => 100 + 50 * oids.length)).oids
}

/** The best common ancestor if there is at most one; `undefined` otherwise, because only git ranks several. */
async function onlyBase(repo: Repository, commits: readonly [Oid, Oid, ...Oid[]]): Promise<Oid[] | undefined> {
  const [one, ...others] = commits
  const found = await inDag(repo, commits, async (dag) => {
    const nodes = others.map((oid) => dag.node(oid))
    return (await commonAncestors(dag, dag.node(one), nodes)).map(dag.oid)
  })
  return found && found.length <= 1 ? found : undefined
}

/** Counts the commits that only `left` has, and that only `right` has. */
export function aheadBehind(
  repo: Repository,
  left: Oid,
  right: Oid,
): Promise<{ readonly left: number; readonly right: number }> {
  const make = async (repo: Repository) => {
    const known = await inDag(repo, [left, right], async (dag) => {
      const [one, other] = [dag.node(left), dag.node(right)]
      return {
        left: (await between(dag, [one], [other])).size,
        right: (await between(dag, [other], [one])).size,
      }
    })
    if (known) return known
    const flags = ['--left-right', '--count'] as const
    const { stdout } = await repo.run('rev-list', { flags, args: [`${left}...${right}`], strict: true })
    const [onlyLeft, onlyRight] = stdout.toString('latin1').trim().split('\t')
    return { left: Number(onlyLeft), right: Number(onlyRight) }
  }
  return memoize(repo, `left-right ${left} ${right}`, make, () => 60)
}

/** Branches and tags (or those of `prefixes`) that contain the commit, by name. */
export async function refsContaining(
  repo: Repository,
  commit: Oid,
  prefixes: readonly ('refs/heads/' | 'refs/tags/')[] = ['refs/heads/', 'refs/tags/'],
): Promise<readonly RefTip[]> {
  const refs = (await Promise.all(prefixes.map((prefix) => listRefTips(repo, prefix)))).flat()
  const commits = await commitsOf(
    repo,
    refs.map(({ oid }) => oid),
  )
  const known = commits && (await descendantsOf(repo, commit, [...new Set(commits.values())]))
  if (!known) return listRefTips(repo, prefixes, { containing: commit })
  return refs.filter(({ oid }) => known.has(commits.get(oid)!))
}

/** Whether one of the tips is the commit or has it in its history. `undefined` if only git can tell. No process. */
export async function isWithin(repo: Repository, commit: Oid, tips: readonly Oid[]): Promise<boolean | undefined> {
  const found = await descendantsOf(repo, commit, tips)
  return found && found.size > 0
}

/** The tips that are `commit` or have it in their history. */
const descendantsOf = (repo: Repository, commit: Oid, tips: readonly Oid[]): Promise<ReadonlySet<Oid> | undefined> =>
  inDag(repo, [commit, ...tips], async (dag) => {
    const nodes = tips.map((oid) => dag.node(oid))
    const found = await reaching(dag, dag.node(commit), nodes)
    return new Set(tips.filter((_, index) => found.has(nodes[index]!)))
  })
