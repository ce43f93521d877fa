import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needsSketches } from '../likeness/sketches.ts'
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
] as const)('a folder %s that cannot be read is an error, not a folder without %s', async ([name, , read]) => {
  const { repo, gitDir } = await world.repository()
  const folder = join(gitDir, name)
  rmSync(folder, { recursive: true })
  // Leads to itself.
  symlinkSync(folder, folder)
  await expect(read(repo)).rejects.toMatchObject({ code: 'ELOOP' })
})
