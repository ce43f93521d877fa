import { expect, test } from 'vitest'
import { connectionsNamed } from './tables/instance.ts'
import { World } from './world.ts'

const jobs = 'stithy jobs'

test('jobs run until the end of a test, and can run again in the next one', async () => {
  await using world = await World.start()
  for (const _ of ['one test', 'the next test']) {
    await world.runJobs()
    expect(await connectionsNamed(world, jobs)).not.toEqual([])
    await expect(world.runJobs()).rejects.toThrow('this world runs jobs already')
    await world.endTest()
    await expect.poll(() => connectionsNamed(world, jobs)).toEqual([])
  }
})
