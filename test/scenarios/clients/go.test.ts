import { describe, expect, test } from 'vitest'
import { run } from '../../programs/run.ts'
import { World } from '../../world.ts'
import { build, libraryNames, missing } from './go/build.ts'

describe.for(libraryNames)('Go client library %s', (library) => {
  const reason = missing(library)
  const title = 'groups, files, merge requests, approvals and deployments work'
  test.skipIf(reason)(reason ? `${title} (skipped: ${reason})` : title, { timeout: 600_000 }, async () => {
    const program = build(library)
    await using world = await World.start()
    await world.runJobs()
    const [ann, bob] = [await world.user(), await world.user()]
    const { stdout } = await run(program, [world.origin, ann.token!, bob.token!, String(bob.id)])
    expect(stdout.trim().split('\n').at(-1)).toBe('end')
  })
})
