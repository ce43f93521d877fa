import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { describe, expect } from 'vitest'
import { type StoredProject, storedProject } from '../../src/modules/repository/commits/testing.ts'
import { withEnoughTime } from '../waiting.ts'
import { test, type World } from '../world.ts'

/** Git processes that work on this repository, or that search several repositories for its `needle`. */
const processesOn = ({ id, repository }: StoredProject): number[] =>
  execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, stat, program]) => program === 'git' && !stat!.startsWith('Z'))
    .filter((words) => words.includes(`--git-dir=${repository.gitDir}`) || words.includes(`-eneedle${id}`))
    .map(([pid]) => Number(pid))

/**
 * A project whose long-lived processes work, and in which every other git process blocks for ever: git reads a list of
 * further repositories that never comes.
 */
async function stuckProject(world: World) {
  const project = await storedProject(world)
  const one = project.repository.commit({ a: 'one\n', 'd/b': 'two\n' })
  const two = project.repository.commit({ a: 'one\nthree\n', 'd/b': 'needle\n' })
  const turned = `compare?from=${two}&to=${one}&straight=true`
  for (const query of [`tree?ref=${one}`, `tree?ref=${two}&path=d`, `files/a?ref=${one}`, `files/a?ref=${two}`, turned])
    expect(await world.root.get(`/projects/${project.id}/repository/${query}`)).toMatchObject({ status: 200 })
  execFileSync('mkfifo', [join(project.repository.gitDir, 'objects/info/alternates')])
  const before = new Set(processesOn(project))
  const started = () => processesOn(project).filter((pid) => !before.has(pid))
  return { project, one, two, started }
}

/** Sends a request; `leave` disconnects. */
function asking(world: World, path: string): { leave: () => Promise<void> } {
  const gone = new AbortController()
  const answer = request(`${world.origin}/api/v4${path}`, {
    headers: { 'private-token': world.root.token! },
    signal: gone.signal,
  })
  answer.catch(() => {})
  return {
    async leave() {
      gone.abort()
      await expect(answer).rejects.toThrow()
    },
  }
}

describe('clients that disconnect', () => {
  const reads: Record<string, (at: { id: number; one: string; two: string }) => string> = {
    'a search in files': ({ id }) => `/projects/${id}/search?scope=blobs&search=needle`,
    'a search of many projects': ({ id }) => `/search?scope=blobs&search=needle${id}`,
    'a search of commits': ({ id }) => `/projects/${id}/search?scope=commits&search=change`,
    'an archive': ({ id, two }) => `/projects/${id}/repository/archive.tar.gz?sha=${two}`,
    'a blame': ({ id, two }) => `/projects/${id}/repository/files/a/blame?ref=${two}`,
    'the history of a path': ({ id }) => `/projects/${id}/repository/commits?all=true&path=d`,
  }

  for (const [what, pathOf] of Object.entries(reads))
    test(`${what}: git stops when the client disconnects`, async ({ world }) => {
      const { project, one, two, started } = await stuckProject(world)
      const { leave } = asking(world, pathOf({ id: project.id, one, two }))
      await expect.poll(() => started().length).toBeGreaterThan(0)
      await leave()
      await expect.poll(started).toEqual([])
    })

  test('a shared git process continues while one of its clients is connected', ({ world }) =>
    withEnoughTime([200, 2_000, 20_000], async (arrivesMs) => {
      const { project, two, started } = await stuckProject(world)
      const path = `/projects/${project.id}/repository/files/a/blame?ref=${two}`
      const first = asking(world, path)
      await expect.poll(() => started().length).toBeGreaterThan(0)
      const second = asking(world, path)
      await sleep(arrivesMs)
      expect(started()).toHaveLength(1)
      await first.leave()
      await sleep(200)
      const working = started()
      await second.leave()
      await expect.poll(started).toEqual([])
      expect(working).toHaveLength(1)
    }))
})
