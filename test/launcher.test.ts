import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { allGone, Launched, temporaryFolder } from '../src/processes/testing/launch.ts'

const bin = fileURLToPath(new URL('./stithy.js', import.meta.url))

/** Makes the engine that runs `bin/stithy.js` say that it is of that version. */
const pretend = (version: string): string[] => [
  '--import',
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`,
]

/** An installation of nothing but `bin/stithy.js` and a `main.ts`. */
async function installation(main: string): Promise<string> {
  const folder = await temporaryFolder()
  for (const part of ['bin', 'src', 'node_modules']) mkdirSync(join(folder, part))
  copyFileSync(bin, join(folder, 'bin/stithy.js'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'src/main.ts'), main)
  return folder
}

/** A Node in a package, as npm installs it: here a script that says so and becomes the real one. */
function addPackagedNode(folder: string): void {
  const home = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin')
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'node'), `#!/bin/sh\nPACKAGED=yes exec ${process.execPath} "$@"\n`)
  chmodSync(join(home, 'node'), 0o755)
}

const run = (folder: string, version: string, ...words: string[]) =>
  spawnSync(process.execPath, [...pretend(version), join(folder, 'bin/stithy.js'), ...words], { encoding: 'utf8' })

test('an old Node without a packaged one is one clear sentence', async () => {
  const folder = await installation('console.log("started")')
  for (const version of ['20.11.1', '22.17.9']) {
    const { status, stdout, stderr } = run(folder, version)
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(new RegExp(`^Stithy needs Node 22\\.18 or newer and this is ${version}: [^\\n]+\\.\\n$`))
  }
})

test('a new Node without a packaged one runs Stithy itself', async () => {
  const folder = await installation('console.log(process.pid, process.argv.slice(2), process.argv[1])')
  const { status, stdout, pid } = run(folder, '22.18.0', 'serve', '--x')
  expect(status).toBe(0)
  expect(stdout).toBe(`${pid} [ 'serve', '--x' ] ${join(folder, 'src/main.ts')}\n`)
})

test('the packaged Node is used before any other; words and exit code pass through', async () => {
  const folder = await installation('console.log(process.env.PACKAGED, ...process.argv.slice(2)); process.exit(7)')
  addPackagedNode(folder)
  for (const version of ['20.11.1', '24.0.0']) {
    const { status, stdout } = run(folder, version, 'token', 'create')
    expect(stdout).toBe('yes token create\n')
    expect(status).toBe(7)
  }
})

const patient = `
  console.log('pid', process.pid, '.')
  process.on('SIGTERM', () => process.exit(5))
  process.on('disconnect', () => process.exit(6))
  setInterval(() => {}, 1000)
`

async function launchPatient() {
  const folder = await installation(patient)
  addPackagedNode(folder)
  const launched = new Launched([], {}, { file: join(folder, 'bin/stithy.js') })
  await vi.waitFor(() => expect(launched.out).toContain('.'), { timeout: 5_000 })
  const child = Number(/pid (\d+)/.exec(launched.out)![1])
  expect(child).not.toBe(launched.pid)
  return { launched, child }
}

test('a signal is passed on, and the exit code comes back', async () => {
  const { launched } = await launchPatient()
  launched.process.kill('SIGTERM')
  expect(await launched.exit).toBe(5)
})

test('kill -9 of the starter is noticed by the service', async () => {
  const { launched, child } = await launchPatient()
  launched.process.kill('SIGKILL')
  await allGone([child])
})

test('the real one tells its version', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const { stdout, status } = spawnSync(process.execPath, [bin, '--version'], { encoding: 'utf8' })
  expect([stdout, status]).toEqual([`${version}\n`, 0])
})
