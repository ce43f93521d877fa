import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Git } from '../src/git/git.ts'
import { writeSketches } from '../src/git/likeness/sketches.ts'
import { Runner } from '../src/git/runner/client.ts'
import { startRunner } from '../src/git/runner/start.ts'

/** Writes the sketches of a repository, as the job after a push does, unless they are current. */
export async function ensureSketches(gitDir: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-sketches-'))
  try {
    await using process = await startRunner({ socketPath: join(folder, 'runner.sock') })
    await using runner = await Runner.connect(process.socketPath)
    await using git = new Git(runner)
    await writeSketches(git.open(gitDir))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
