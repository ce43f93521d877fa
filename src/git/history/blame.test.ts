import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { Git } from '../git.ts'
import { gitIn, TestGit } from '../testing.ts'
import { blameFile } from './blame.ts'
import { always, lines } from './testing.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/**
 * Input of fast-import: 300 commits on two branches that change lines of one file or another file, and are merged into each other,
 * where the file takes each line from either side.
 */
function branchedLines(seed: number): string {
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const data = (text: string) => `data ${text.length}\n${text}\n`
  const tips = [
    { branch: 'main', mark: 0, text: Array.from({ length: 30 }, (_, line) => `line ${line}`) },
    { branch: 'side', mark: 1, text: [] as string[] },
  ]
  let script = ''
  for (let mark = 1; mark <= 300; mark++) {
    if (mark === 2) tips[1]!.text = [...tips[0]!.text]
    const [own, other] = mark === 1 || random(2) === 0 ? [tips[0]!, tips[1]!] : [tips[1]!, tips[0]!]
    const merges = mark > 2 && random(6) === 0
    script += `commit refs/heads/${own.branch}\nmark :${mark}\n`
    script += `committer C <c@example.com> ${1_700_000_000 + 10 * mark - random(40)} +0000\n${data(String(mark))}`
    if (own.mark > 0) script += `from :${own.mark}\n`
    if (merges) script += `merge :${other.mark}\n`
    if (merges && random(3) > 0)
      own.text = own.text.map((line, at) => (random(2) === 0 ? line : (other.text[at] ?? line)))
    else if (random(4) === 0) own.text[random(30)] = `line ${random(5)} of ${mark}`
    else script += `M 100644 inline other\n${data(String(mark))}`
    script += `M ${random(20) === 0 ? '100755' : '100644'} inline lines\n${data(`${own.text.join('\n')}\n`)}`
    own.mark = mark
  }
  return script
}

test('each line of a file is by the commit that git blame names', () =>
  always(
    world,
    async ({ repo, tip, git }) => {
      for (const path of git('ls-tree', '-r', '-z', '--name-only', tip).join('\n').split('\0').filter(Boolean)) {
        const { commits, runs } = await blameFile(repo, tip, path)
        const found = Array.from({ length: runs.length / 2 }, (_, at) =>
          Array<Oid>(runs[2 * at + 1]!).fill(commits[runs[2 * at]!]!),
        )
        const expected = git('blame', '--porcelain', tip, '--', path).flatMap(
          (line) => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? [],
        )
        expect([path, ...found.flat()]).toEqual([path, ...expected])
      }
    },
    40,
  ))

test('lines of a file that was changed on merged branches are by the commits that git blame names', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const { repo, gitDir } = await world.repository()
    gitIn(gitDir, ['fast-import', '--quiet'], branchedLines(seed))
    gitIn(gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
    for (const branch of ['main', 'side'] as const) {
      const tip = gitIn(gitDir, ['rev-parse', branch]) as Oid
      const { commits, runs } = await blameFile(repo, tip, 'lines')
      const found = lines(gitIn(gitDir, ['blame', '--porcelain', tip, '--', 'lines'])).flatMap(
        (line) => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? [],
      )
      let at = 0
      for (let run = 0; run < runs.length; run += 2)
        for (let line = 0; line < runs[run + 1]!; line++) expect(commits[runs[run]!]).toBe(found[at++])
      expect(at).toBe(found.length)
    }
  }
})

test('what blame writes for git is removed at a later start if its process was killed', async () => {
  const made = await world.repository()
  for (let at = 0; at < 5; at++) made.commit({ f: `${at}\n`, g: String(at) })
  const tip = made.commit({ g: 'last' })
  gitIn(made.gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
  const run = made.repo.run.bind(made.repo)
  const files: string[] = []
  made.repo.withSignal = () => made.repo
  made.repo.run = (name: string, options: any) => {
    for (const flag of options.flags) if (flag.startsWith('-S')) files.push(flag.slice(2))
    return run(name as any, options)
  }
  await blameFile(made.repo, tip, 'f')
  expect(files).toHaveLength(1)
  expect(existsSync(files[0]!)).toBe(false)
  writeFileSync(files[0]!, '')
  utimesSync(files[0]!, 0, 0)
  await new Git(world.runner).emptyDir()
  expect(existsSync(files[0]!)).toBe(false)
})

test('a file has the same blame at a later commit that did not change it, without another process', async () => {
  const made = await world.repository()
  made.commit({ f: 'one\n', g: '1' })
  const changed = made.commit({ f: 'one\ntwo\n' })
  const later = made.commit({ g: '2' })
  const found = await blameFile(made.repo, changed, 'f')
  made.repo.withSignal = () => made.repo
  made.repo.run = () => Promise.reject(new Error('a process'))
  expect(await blameFile(made.repo, later, 'f')).toEqual(found)
})
