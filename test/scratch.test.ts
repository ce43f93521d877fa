import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { scratchFolder } from './scratch.ts'

/** A process that has a scratch folder, as a run of all tests. */
async function run(): Promise<{ folder: string; kill: () => Promise<void> }> {
  const script = `import { scratchFolder } from ${JSON.stringify(new URL('./scratch.ts', import.meta.url).href)}
    console.log(scratchFolder())
    setInterval(() => {}, 1_000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const folder = String(line).trim()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

test('a run of tests removes the folder of a killed one, and no other', async () => {
  const killed = await run()
  mkdirSync(join(killed.folder, 'data', 'of a test'), { recursive: true })
  const living = await run()
  const unknown = join(dirname(killed.folder), `stithy-test-run-${process.pid}`)
  mkdirSync(unknown)
  onTestFinished(() => rmSync(unknown, { recursive: true, force: true }))
  const elsewhere = `${unknown}-other-container`
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'owner.json'), JSON.stringify({ pid: 1, identity: 'earlier', namespace: 'pid:[1]' }))
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }))
  await killed.kill()

  const own = scratchFolder()
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))

  expect([killed.folder, living.folder, unknown, elsewhere, own].filter((folder) => existsSync(folder))).toEqual([
    living.folder,
    unknown,
    elsewhere,
    own,
  ])
})

test('a file system that a killed run has mounted does not stop the next run', async ({ skip }) => {
  const killed = await run()
  const mounted = join(killed.folder, 'mounted')
  mkdirSync(mounted)
  if (spawnSync('mount', ['-t', 'tmpfs', 'stithy', mounted]).status !== 0) skip('mounting is not permitted')
  onTestFinished(() => void spawnSync('umount', [mounted]))
  await killed.kill()
  const own = scratchFolder()
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))
  expect(existsSync(own)).toBe(true)
})
