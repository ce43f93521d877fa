import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RefName } from '../format/ref-name.ts'
import { needsSketches } from '../likeness/sketches.ts'
import { readRef } from '../refs/refs.ts'
import { TestGit } from '../testing.ts'
import type { Repository } from './repository.ts'
import { removeStaleLocks } from './stale-locks.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

test.for([
  ['refs', 'locks', (repo: Repository) => removeStaleLocks(repo, { olderThanMs: 0 })],
  ['objects/pack', 'packs', needsSketches],
  ['refs/heads', 'branches', async (repo: Repository) => readRef(repo, 'refs/heads/main' as RefName)],
  ['packed-refs', 'refs', async (repo: Repository) => readRef(repo, 'refs/heads/main' as RefName)],
  ['.', 'a repository', (repo: Repository) => repo.exists()],
] as const)('what cannot be read is an error: %s does not seem to be without %s', async ([name, , read]) => {
  const { repo, gitDir } = await world.repository()
  const folder = join(gitDir, name)
  rmSync(folder, { recursive: true, force: true })
  // Leads to itself.
  symlinkSync(folder, folder)
  await expect(read(repo)).rejects.toMatchObject({ code: 'ELOOP' })
})
