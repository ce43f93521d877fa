import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../../programs/run.ts'
import { World } from '../../world.ts'

const versions = ['2.2.0', '3.12.0', '8.4.0']
const folder = join(import.meta.dirname, '.installed')

/** Why a version cannot be tested here. */
function missing(version: string): string | undefined {
  try {
    execFileSync('python3', ['--version'])
  } catch {
    return 'there is no python3'
  }
  if (existsSync(join(folder, `python-gitlab-${version}`))) return undefined
  return 'the library is not installed; npm run clients installs it'
}

describe.for(versions)('python-gitlab %s', (version) => {
  const reason = missing(version)
  const title = 'groups, files, merge requests, approvals and deployments work'
  test.skipIf(reason)(reason ? `${title} (skipped: ${reason})` : title, async () => {
    await using world = await World.start()
    await world.runJobs()
    const [ann, bob] = [await world.user(), await world.user()]
    const { stdout } = await run(
      'python3',
      [join(import.meta.dirname, 'python/flow.py'), world.origin, ann.token!, bob.token!, String(bob.id)],
      { env: { ...process.env, PYTHONPATH: join(folder, `python-gitlab-${version}`), PYTHONDONTWRITEBYTECODE: '1' } },
    )
    expect(stdout.trim().split('\n').at(-1)).toBe('end')
  })
})
