import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { Git } from '../git.ts'
import { Runner } from '../runner/client.ts'
import { removeOldLeftovers, temporaryName } from './leftovers.ts'

let folder: string
let runner: Runner
let git: Git
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stithy-leftovers-'))
  runner = await Runner.connect(inject('runnerSocket'))
  git = new Git(runner)
})
afterAll(async () => {
  await git[Symbol.asyncDispose]()
  await runner[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

test('removing a repository removes its leftovers of a crash, and no others', async () => {
  const [mine, other] = [join(folder, '2.git'), join(folder, '2.git.import')]
  const left = [temporaryName(mine, 'new'), temporaryName(mine, 'removed')]
  const kept = [temporaryName(other, 'new'), join(folder, '22.git'), other]
  for (const path of [mine, ...left, ...kept]) await mkdir(join(path, 'objects'), { recursive: true })
  await git.removeRepository(mine)
  expect((await readdir(folder)).map((name) => join(folder, name)).sort()).toEqual(kept.sort())
  // Again, with nothing there.
  await git.removeRepository(mine)
  for (const path of kept) await rm(path, { recursive: true })
})

test('old leftovers are removed, recent ones are not', async () => {
  const [old, young, repository] = [
    temporaryName(join(folder, '3.git'), 'new'),
    temporaryName(join(folder, '3.git'), 'removed'),
    join(folder, '3.git'),
  ]
  for (const path of [old, young, repository]) await mkdir(path)
  for (const path of [old, repository]) await utimes(path, new Date(0), new Date(0))
  expect(await removeOldLeftovers(folder, 60_000)).toBe(1)
  expect((await readdir(folder)).map((name) => join(folder, name)).sort()).toEqual([young, repository].sort())
})
