import { afterAll, beforeAll, expect, test } from 'vitest'
import { newObject, writeObjects } from '../objects/objects.ts'
import { inScratch } from '../objects/scratch.ts'
import { TestGit } from '../testing.ts'
import { newBytesOf } from './maintenance.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

test('the bytes of objects in quarantine are the same for every caller and signal', async () => {
  const { repo } = await world.repository()
  await inScratch(repo, async (scratch) => {
    await writeObjects(scratch, [newObject('blob', Buffer.from('new'))])
    const bytes = await newBytesOf(scratch)
    expect(bytes).toBeGreaterThan(0)
    expect(await newBytesOf(scratch.withSignal(new AbortController().signal))).toBe(bytes)
    expect(await newBytesOf(scratch.for('ann'))).toBe(bytes)
    expect(await newBytesOf(repo)).toBe(0)
  })
})
