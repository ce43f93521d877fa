import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { isHolderName } from '../repository/owned-lock.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { setDefaultBranch } from './head.ts'
import { readRef } from './refs.ts'
import { updateRefs } from './update-refs.ts'

const run = promisify(execFile)

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const main = 'refs/heads/main' as RefName

/** Changes the default branch in a process that is killed before the change is durable. */
async function killed({ gitDir }: TestRepository): Promise<void> {
  const source = new URL('head.ts', import.meta.url).href
  const code = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const die = () => process.kill(process.pid, 'SIGKILL')
    Object.getPrototypeOf(await fs.promises.open('/dev/null')).sync = fs.fsync = fs.fsyncSync = die
    syncBuiltinESMExports()
    const { setDefaultBranch } = await import('${source}')
    await setDefaultBranch({ gitDir: '${gitDir}', exists: async () => true }, 'other')`
  await expect(run(process.execPath, ['--input-type=module', '-e', code])).rejects.toMatchObject({ signal: 'SIGKILL' })
}

test('a branch is updated and the default branch changed at once after a process was killed while it changed that', async () => {
  const made = await world.repository()
  const [one, two] = ['1', '2'].map((a) => made.commit({ a }, { branch: 'history' })) as [Oid, Oid]
  made.git('update-ref', main, one)
  // Git moves packed refs, and locks `HEAD` with the branch that it names.
  made.git('pack-refs', '--all', '--prune')
  await killed(made)
  expect(existsSync(join(made.gitDir, 'HEAD.lock'))).toBe(true)
  expect(await updateRefs(made.repo, [{ name: main, from: one, to: two }])).toBe('moved')
  expect(await readRef(made.repo, main)).toBe(two)
  await killed(made)
  await setDefaultBranch(made.repo, 'trunk')
  expect(made.git('symbolic-ref', 'HEAD')).toBe('refs/heads/trunk')
  expect(readdirSync(made.gitDir).filter((name) => name === 'HEAD.lock' || isHolderName(name))).toEqual([])
  expect(statSync(join(made.gitDir, 'HEAD')).nlink).toBe(1)
})

test('the lock of HEAD that git holds is left alone', async () => {
  const made = await world.repository()
  await writeFile(join(made.gitDir, 'HEAD.lock'), '')
  await expect(setDefaultBranch(made.repo, 'trunk')).rejects.toMatchObject({ kind: 'unavailable' })
  expect(made.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main')
  expect(existsSync(join(made.gitDir, 'HEAD.lock'))).toBe(true)
})
