import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { repositoriesDir } from '../../src/config.ts'
import { repositoryDir } from '../../src/modules/projects/repositories/location.ts'
import { projectRow } from '../tables/projects.ts'
import { movedRefs, pushesInState } from '../tables/pushes.ts'
import { git, type TestProject, temporaryFolder, test, type World } from '../world.ts'

const rounds = 10
const pushers = 4
const names = Array.from({ length: 12 }, (_, n) => `b${n}`)

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

/** A clone with a few commits. */
async function source(folder: string): Promise<{ work: string; commits: string[] }> {
  await git(folder, 'init', '-q', '-b', 'main', 'work')
  const work = `${folder}/work`
  const commits: string[] = []
  for (let n = 0; n < 4; n++) {
    await git(work, 'commit', '-q', '--allow-empty', '-m', `Commit ${n}`)
    commits.push(await git(work, 'rev-parse', 'HEAD'))
  }
  return { work, commits }
}

const gitDirOf = async (world: World, project: TestProject): Promise<string> => {
  const [{ repository_storage }] = await projectRow(world, project.id, 'repository_storage')
  return repositoryDir(repositoriesDir(world.config), repository_storage, project.id)
}

/** Pushes random changes of random branches from one clone until the rounds are over. */
async function pushAtRandom(work: string, commits: readonly string[], remote: string): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const some = names.filter(() => Math.random() < 0.6)
    const specs = some.map((name) =>
      Math.random() < 0.3 ? `:refs/heads/${name}` : `+${pick(commits)}:refs/heads/${name}`,
    )
    if (specs.length === 0) continue
    const flags = Math.random() < 0.4 ? ['--atomic'] : []
    await git(work, 'push', '-q', ...flags, remote, ...specs).catch(() => {})
  }
}

async function changeAtRandom(world: World, project: TestProject): Promise<void> {
  for (let round = 0; round < rounds * 3; round++) {
    const branch = pick(names)
    const at = `/projects/${project.id}/repository`
    const kind = Math.random()
    if (kind < 0.35) await world.root.post(`${at}/branches`, { branch, ref: 'main' })
    else if (kind < 0.6) await world.root.delete(`${at}/branches/${branch}`)
    else
      await world.root.post(`${at}/commits`, {
        branch,
        commit_message: 'Through the API',
        actions: [{ action: 'create', file_path: `file-${round}-${Math.random()}`, content: 'x' }],
      })
  }
}

/** Kills pushes to the repository at random moments, without those whose command line has `spared`. */
function killer(gitDir: string, { everyMs = 15, spared = '\0none' } = {}): { stop: () => void } {
  // A process becomes git soon after it starts: older ones need no further look.
  const looks = new Map<string, number>()
  const timer = setInterval(() => {
    const pids = readdirSync('/proc').filter((name) => {
      if (!/^\d+$/.test(name)) return false
      const seen = looks.get(name) ?? 0
      looks.set(name, seen + 1)
      if (seen > 20) return false
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8')
        return (
          line.startsWith('git\0') && line.includes(gitDir) && line.includes('receive-pack') && !line.includes(spared)
        )
      } catch {
        return false
      }
    })
    const victim = pids.length > 0 ? pick(pids) : undefined
    if (victim === undefined) return
    try {
      process.kill(Number(victim), 'SIGKILL')
    } catch {
      // It had already ended.
    }
  }, everyMs)
  return { stop: () => clearInterval(timer) }
}

/**
 * Compares the journal with the refs: each value of a ref must have been set as often as it was replaced, and once more if it
 * is the current value. Returns the refs where that is not so.
 */
async function imbalance(world: World, project: TestProject, gitDir: string): Promise<string[]> {
  const rows: { ref: string; from: string | null; to: string | null }[] = await movedRefs(world, project.id)
  const listed = await git(gitDir, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads')
  const now = new Map(
    listed
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ') as [string, string]),
  )
  const found: string[] = []
  for (const ref of new Set([...now.keys(), ...rows.map(({ ref }) => ref)])) {
    const balance = new Map<string, number>()
    const add = (oid: string | null, change: number) => balance.set(oid ?? '-', (balance.get(oid ?? '-') ?? 0) + change)
    add(null, 1)
    for (const row of rows.filter((each) => each.ref === ref)) {
      add(row.from, -1)
      add(row.to, 1)
    }
    add(now.get(ref) ?? null, -1)
    for (const [oid, count] of balance) if (count !== 0) found.push(`${ref} ${oid.slice(0, 7)} ${count}`)
  }
  return found
}

describe('concurrent pushes and API changes of the same refs', () => {
  test.for(['', ' while pushes are killed'])(
    'the journal adds up to the refs after races%s',
    async (kills, { world }) => {
      await using folder = await temporaryFolder()
      const { work, commits } = await source(folder.path)
      const project = await world.project()
      const remote = world.remote(project, world.root)
      await git(work, 'push', '-q', remote, 'main')
      const gitDir = await gitDirOf(world, project)
      const killing = kills === '' ? undefined : killer(gitDir)
      await Promise.all([
        ...Array.from({ length: pushers }, () => pushAtRandom(work, commits, remote)),
        changeAtRandom(world, project),
      ])
      killing?.stop()
      await world.recover()
      expect(await pushesInState(world, project.id, 'intended')).toEqual([])
      expect(await imbalance(world, project, gitDir)).toEqual([])
    },
  )

  test('a push whose receive-pack is killed fails at the client, and does not wait for ever', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { work, commits } = await source(folder.path)
    const project = await world.project()
    const remote = world.remote(project, world.root)
    await git(work, 'push', '-q', remote, 'main')
    const gitDir = await gitDirOf(world, project)
    const killing = killer(gitDir, { everyMs: 7, spared: '--http-backend-info-refs' })
    const outcomes = []
    // The deletions make git write warnings before it moves refs, so some responses end after their beginning.
    for (let round = 0; round < 60; round++)
      outcomes.push(
        await git(
          work,
          'push',
          '-q',
          remote,
          ...names.map((name) => pick([`+${pick(commits)}:refs/heads/${name}`, `:refs/heads/${name}-none`])),
        ).then(
          () => 'pushed',
          ({ stderr }: { stderr: string }) => stderr,
        ),
      )
    killing.stop()
    const failures = outcomes.filter((each) => each !== 'pushed')
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.join()).toMatch(/hung up|RPC failed|unexpected disconnect|error: 503/i)
  })
})
