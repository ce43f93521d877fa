import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changedPathsOf } from '../commit-graph/changed-paths.ts'
import type { CommitGraph } from '../commit-graph/commit-graph.ts'
import type { Oid } from '../format/oid.ts'
import { isAncestor } from '../history/ancestry.ts'
import { lastCommitOfPath, listCommitIds } from '../history/history.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { writeCommitGraph } from '../transfer/maintenance.ts'
import { openGraph } from './open-graph.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const all = { limit: 100 }

async function openedGraph({ repo }: TestRepository): Promise<CommitGraph> {
  const graph = await openGraph(repo)
  if (graph === 'git') throw new Error('left to git')
  return graph
}

/** Replaces a file as git does, by rename. Its folder may have been removed with a damaged graph. */
function replace(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}

describe('the commit-graph', () => {
  test('the commit-graph is read again after a new layer, and commits it lacks are read too', async () => {
    const made = await world.repository()
    const first = made.commit({ a: '1' })
    expect((await openedGraph(made)).count).toBe(0)
    await writeCommitGraph(made.repo)
    expect((await openedGraph(made)).count).toBe(1)
    const second = made.commit({ a: '2' })
    expect(await listCommitIds(made.repo, { from: [second] }, all)).toEqual([second, first])
    await writeCommitGraph(made.repo)
    const graph = await openedGraph(made)
    expect([graph.count, graph.oid(graph.find(second)!), graph.parents(graph.find(second)!)]).toEqual([
      2,
      second,
      [graph.find(first)],
    ])
    expect(await openedGraph(made)).toBe(graph)
  })

  test('commit-graph filters show which commits did not change a path', async () => {
    const made = await world.repository()
    const commits = Array.from({ length: 30 }, (_, n) => made.commit({ [`dir-${n}/file`]: 'x' }))
    await writeCommitGraph(made.repo)
    const graph = await openedGraph(made)
    const maybe = (path: string) => commits.filter((oid) => graph.maybeChanged(graph.find(oid)!, changedPathsOf(path)!))
    for (const [n, oid] of commits.entries()) expect(maybe(`dir-${n}/file`)).toContain(oid)
    const asked = commits.flatMap((_, n) => maybe(`dir-${n}/file`))
    // One in a hundred may be a false positive.
    expect(asked.length).toBeLessThan(60)
    expect(changedPathsOf('ü')).toBeUndefined()
  })

  test('a shallow repository falls back to git', async () => {
    const made = await world.repository()
    const first = made.commit({ a: '1' })
    const second = made.commit({ a: '2' })
    await writeCommitGraph(made.repo)
    writeFileSync(join(made.gitDir, 'shallow'), `${second}\n`)
    expect(await openGraph(made.repo)).toBe('git')
    expect(await listCommitIds(made.repo, { from: [second] }, all)).toEqual([second])
    expect(await isAncestor(made.repo, first, second)).toBe(false)
  })

  test('a commit-graph larger than the cache falls back to git', async () => {
    await using small = await TestGit.start({ graphBytes: 2000 })
    const made = await small.repository()
    const first = made.commit({ a: '1' })
    await writeCommitGraph(made.repo)
    expect(await openGraph(made.repo)).toBe('git')
    expect(await listCommitIds(made.repo, { from: [first] }, all)).toEqual([first])
  })

  test('a truncated or corrupt commit-graph neither crashes nor hangs', async () => {
    const made = await world.repository()
    const commits: Oid[] = []
    for (let n = 0; n < 12; n++) {
      const before = commits.at(-1)
      const parents = n > 3 && n % 3 === 0 ? [before!, commits[n - 2]!, commits[n - 3]!] : before ? [before] : []
      commits.push(made.commit({ [`f${n % 3}`]: String(n) }, { parents }))
    }
    await writeCommitGraph(made.repo)
    const folder = join(made.gitDir, 'objects/info/commit-graphs')
    const path = join(folder, readdirSync(folder).find((name) => name.endsWith('.graph'))!)
    const chain = join(folder, 'commit-graph-chain')
    const [sound, soundChain] = [readFileSync(path), readFileSync(chain)]
    const bend = (file: Buffer, at: number, byte: number, kind: string) => {
      const place = at % file.length
      if (kind === 'cut') return file.subarray(0, place)
      const bent = Buffer.from(file)
      bent.fill(byte, place, Math.min(place + (kind === 'run' ? 40 : 1), file.length))
      return bent
    }
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom(0, 1, 2, 0x70, 0x7f, 0x80, 0xff),
        fc.constantFrom('byte', 'run', 'cut', 'chain'),
        async (at, byte, kind) => {
          replace(path, kind === 'chain' ? sound : bend(sound, at, byte, kind))
          replace(chain, kind === 'chain' ? bend(soundChain, at, byte, 'byte') : soundChain)
          const { repo } = made
          repo.git.cache.clear()
          repo.git.graphs.clear()
          const tip = commits.at(-1)!
          // Git may refuse such a graph or use it; the reader only has to end.
          const outcomes = await Promise.allSettled([
            listCommitIds(repo, { from: [tip] }, all),
            listCommitIds(repo, { from: [tip], excluding: [commits[3]!] }, all),
            lastCommitOfPath(repo, tip, 'f1'),
            isAncestor(repo, commits[0]!, tip),
          ])
          for (const outcome of outcomes)
            if (outcome.status === 'rejected') expect(String(outcome.reason)).toMatch(/^(GitError|Failure|Error: git )/)
        },
      ),
      { numRuns: 80 },
    )
    replace(path, sound)
    replace(chain, soundChain)
    // As git writes each graph once, one of the same size, file number and tick of the clock counts as the same.
    for (const file of [path, chain]) utimesSync(file, 1, 1)
    chmodSync(path, 0o444)
    expect(await listCommitIds(made.repo, { from: [commits.at(-1)!] }, all)).toHaveLength(12)
  })
})
