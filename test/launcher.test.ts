import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { allGone, Launched, temporaryFolder } from '../src/processes/testing/launch.ts'
import { bin, freshEnv } from './service.ts'
import { eventually } from './waiting.ts'

/** Runs code in the Node that runs `bin/stithy.js`, before it. */
const before = (code: string): string[] => ['--import', `data:text/javascript,${encodeURIComponent(code)}`]

/** Makes the Node that runs `bin/stithy.js` report that version. */
const pretend = (version: string): string[] =>
  before(`Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`)

const packageName = `node-${process.platform}-${process.arch}`
const packagedVersion = '99.1.0'

/** An installation that has only `bin/stithy.js`, a `main.ts` and a `package.json`; it expects a packaged Node 99.1.0. */
async function installation(main: string, folder?: string): Promise<string> {
  folder ??= await temporaryFolder()
  for (const part of ['bin', 'src', 'node_modules']) mkdirSync(join(folder, part), { recursive: true })
  copyFileSync(bin, join(folder, 'bin/stithy.js'))
  const { scripts, bin: commands } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const optionalDependencies = { [packageName]: packagedVersion }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'stithy', type: 'module', scripts, bin: commands, optionalDependencies }),
  )
  writeFileSync(join(folder, 'src/main.ts'), main)
  return folder
}

/** A Node in a package, as npm installs it. By default a script that sets PACKAGED and becomes the real one. */
function addPackagedNode(
  modules: string,
  {
    name = packageName,
    version = packagedVersion,
    content = `#!/bin/sh\nPACKAGED=yes exec ${process.execPath} "$@"\n`,
  } = {},
): void {
  const home = join(modules, name)
  mkdirSync(join(home, 'bin'), { recursive: true })
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, version }))
  writeFileSync(join(home, 'bin/node'), content)
  chmodSync(join(home, 'bin/node'), 0o755)
}

const runWith = (folder: string, flags: readonly string[], ...words: string[]) =>
  spawnSync(process.execPath, [...flags, join(folder, 'bin/stithy.js'), ...words], { encoding: 'utf8' })

const run = (folder: string, version: string, ...words: string[]) => runWith(folder, pretend(version), ...words)

/** A Node before 22.15 cannot replace its process. */
const withoutExecve = before('process.execve = undefined')

test('a start before npm ci is refused in one sentence', async () => {
  const folder = await installation('console.log("started")')
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', dependencies: { 'no-such-package': '1' } }),
  )
  expect(run(folder, '24.0.0')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: `The packages that Stithy needs are not installed: run npm ci in ${folder}.\n`,
  })
})

test('an old Node without a packaged one is refused in one sentence', async () => {
  const folder = await installation('console.log("started")')
  for (const version of ['20.11.1', '22.18.0']) {
    const { status, stdout, stderr } = run(folder, version)
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(new RegExp(`^Stithy needs Node 24 or newer and this is ${version}: [^\\n]+\\.\\n$`))
  }
})

test('a new Node without a packaged one runs Stithy itself', async () => {
  const folder = await installation('console.log(process.pid, process.argv.slice(2), process.argv[1])')
  const { status, stdout, pid } = run(folder, '24.0.0', 'serve', '--x')
  expect(status).toBe(0)
  expect(stdout).toBe(`${pid} [ 'serve', '--x' ] ${join(folder, 'src/main.ts')}\n`)
})

test('the packaged Node is used before any other; words and exit code pass through', async () => {
  const folder = await installation('console.log(process.env.PACKAGED, ...process.argv.slice(2)); process.exit(7)')
  addPackagedNode(join(folder, 'node_modules'))
  for (const flags of [pretend('20.11.1'), pretend('24.0.0'), withoutExecve]) {
    const { status, stdout } = runWith(folder, flags, 'token', 'create')
    expect(stdout).toBe('yes token create\n')
    expect(status).toBe(7)
  }
})

test('the packaged Node replaces the process where Node can do that', async () => {
  const folder = await installation('console.log(process.pid)')
  addPackagedNode(join(folder, 'node_modules'))
  const { stdout, pid } = runWith(folder, [])
  expect(stdout).toBe(`${pid}\n`)
})

describe('a Node that npm did not install for Stithy never runs', () => {
  const hijack = { content: '#!/bin/sh\necho hijacked\n' }
  const official = `node-v${packagedVersion}-${process.platform}-${process.arch}`

  test('beside the checkout', async () => {
    const around = await temporaryFolder()
    const folder = await installation('console.log("started")', join(around, 'stithy'))
    for (const name of [packageName, official]) addPackagedNode(around, { ...hijack, name })
    for (const name of [packageName, official]) addPackagedNode(join(around, 'node_modules'), { ...hijack, name })
    expect(run(folder, '24.0.0')).toMatchObject({ status: 0, stdout: 'started\n' })
    rmSync(join(folder, 'node_modules'), { recursive: true })
    expect(run(folder, '24.0.0')).toMatchObject({ status: 0, stdout: 'started\n' })
  })

  test('under another name in node_modules, or inside another package', async () => {
    const folder = await installation('console.log("started")')
    const modules = join(folder, 'node_modules')
    for (const name of [official, `node-evil${packageName.slice(4)}`, `other/node_modules/${packageName}`])
      addPackagedNode(modules, { ...hijack, name })
    expect(run(folder, '24.0.0')).toMatchObject({ status: 0, stdout: 'started\n' })
  })

  test('in the current folder', async () => {
    const folder = await installation('console.log("started")')
    const foreign = await temporaryFolder()
    addPackagedNode(join(foreign, 'node_modules'), hijack)
    const { stdout } = spawnSync(process.execPath, [join(folder, 'bin/stithy.js')], { cwd: foreign, encoding: 'utf8' })
    expect(stdout).toBe('started\n')
  })
})

test('a packaged Node of another version is refused in one sentence', async () => {
  const folder = await installation('console.log("started")')
  addPackagedNode(join(folder, 'node_modules'), { version: '24.0.0' })
  expect(run(folder, '24.0.0')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: `Stithy needs ${packageName} 99.1.0, and ${join(folder, 'node_modules', packageName)} has 24.0.0: run npm ci.\n`,
  })
})

test.for([
  { how: 'replacing the process', flags: [] },
  { how: 'as a child', flags: withoutExecve },
])('a packaged Node that does not start is refused in one sentence, $how', async ({ flags }) => {
  const folder = await installation('console.log("started")')
  addPackagedNode(join(folder, 'node_modules'), { content: '#!/lib/ld-musl-nowhere.so.1\n' })
  const { status, stdout, stderr } = runWith(folder, flags)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^Stithy cannot run \S+\/bin\/node: [^\n]*ENOENT[^\n]*\.\n$/)
})

test.runIf(process.platform === 'linux')('a system with musl is refused in one sentence', async () => {
  const folder = await installation('console.log("started")')
  addPackagedNode(join(folder, 'node_modules'))
  const muslNode = join(folder, 'musl-node')
  writeFileSync(muslNode, '\x7fELF\0/lib/ld-musl-x86_64.so.1\0')
  const { status, stdout, stderr } = runWith(folder, before(`process.execPath = ${JSON.stringify(muslNode)}`))
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^Stithy needs a system with glibc, [^\n]+\.\n$/)
})

test('a system without a library that the packaged Node needs is refused in one sentence', async () => {
  const folder = await installation('console.log("started")')
  const message = 'error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file'
  addPackagedNode(join(folder, 'node_modules'), { content: `#!/bin/sh\necho "$0: ${message}" >&2\nexit 127\n` })
  writeFileSync(join(folder, 'bin/bundle.js'), '')
  mkdirSync(join(folder, 'node_modules/rolldown'))
  const { status, stdout, stderr } = runWith(folder, [])
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^Stithy needs the library libatomic\.so\.1, [^\n]+ libatomic1 [^\n]+\.\n$/)
})

describe('a bundle of the sources', () => {
  const shown = `
    import { readFileSync } from 'node:fs'
    import { fork } from 'node:child_process'
    import { fileURLToPath } from 'node:url'
    import { name } from './name.ts'
    process.setSourceMapsEnabled(true)
    const data = readFileSync(new URL('./data.txt', import.meta.url), 'utf8')
    const program = fileURLToPath(process.argv[1].endsWith('.js') ? import.meta.resolve('./main.js') : import.meta.url)
    const { fail } = await import('./fail.ts')
    const where = fail().split('\\n')[1].replace(/.*[/]src[/]/, 'src/')
    console.log(program === process.argv[1] ? 'same' : program, process.argv[1].endsWith('.js') ? 'bundle' : 'source', name, data, where)
    if (process.argv[2]) fork(fileURLToPath(new URL('./child.ts', import.meta.url)), [], { stdio: 'inherit' })
  `

  const bundles = (folder: string) => join(folder, 'node_modules/.cache/stithy-bundles')

  async function bundling() {
    const folder = await installation(shown)
    copyFileSync(fileURLToPath(new URL('../bin/bundle.js', import.meta.url)), join(folder, 'bin/bundle.js'))
    const rolldown = fileURLToPath(new URL('../node_modules/rolldown', import.meta.url))
    symlinkSync(rolldown, join(folder, 'node_modules/rolldown'))
    const source = (name: string, text: string) => writeFileSync(join(folder, 'src', name), text)
    source('name.ts', "export const name: string = 'one'")
    source('data.txt', 'data')
    source('fail.ts', '\n\nexport const fail = (): string => new Error().stack!')
    source(
      'child.ts',
      "import { name } from './name.ts'\nconsole.log('child', name, import.meta.url.endsWith('child.ts'))",
    )
    return { folder, source }
  }

  const started = (folder: string, ...words: string[]) => {
    const { stdout, stderr } = runWith(folder, [], ...words)
    expect(stderr).toBe('')
    return stdout
  }
  const line = (kind: string, name: string) => `same ${kind} ${name} data src/fail.ts:3:35)\n`

  test('runs, reads its files and names lines of the sources in stack traces', async () => {
    const { folder } = await bundling()
    for (let start = 0; start < 2; start++) expect(started(folder)).toBe(line('bundle', 'one'))
    expect(readdirSync(bundles(folder))).toHaveLength(1)
  })

  test('runs the programs of processes and threads from the bundle, too', async () => {
    const { folder } = await bundling()
    expect(started(folder, 'fork')).toBe(`${line('bundle', 'one')}child one true\n`)
    const [bundle] = readdirSync(bundles(folder))
    expect(readdirSync(join(bundles(folder), bundle!)).join(' ')).toMatch(/\bchild-/)
  })

  test('reads the files beside its own sources where node_modules is a link into another checkout', async () => {
    const { folder } = await bundling()
    const other = await temporaryFolder()
    mkdirSync(join(other, 'src'))
    writeFileSync(join(other, 'src/data.txt'), 'data of the other')
    renameSync(join(folder, 'node_modules'), join(other, 'node_modules'))
    symlinkSync(join(other, 'node_modules'), join(folder, 'node_modules'))
    expect(started(folder)).toMatch(/ bundle one data src\/fail.ts/)
  })

  test('is made again after a source has changed, even to one of the same size', async () => {
    const { folder, source } = await bundling()
    started(folder)
    source('name.ts', "export const name: string = 'two'")
    expect(started(folder)).toBe(line('bundle', 'two'))
  })

  test('that the image is built with is found in it, where layers have cut the times of files to seconds', async () => {
    const { folder } = await bundling()
    const dockerfile = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8')
    const [, command] = /^RUN (.*node bin\/stithy\.js.*)$/m.exec(dockerfile)!
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
    expect(spawnSync('sh', ['-c', command!], { cwd: folder, env }).status).toBe(0)
    const made = readdirSync(bundles(folder))
    for (const part of ['bin', 'src'])
      for (const name of readdirSync(join(folder, part))) {
        const seconds = Math.floor(statSync(join(folder, part, name)).mtimeMs / 1000)
        utimesSync(join(folder, part, name), seconds, seconds)
      }
    expect(started(folder)).toBe(line('bundle', 'one'))
    expect(readdirSync(bundles(folder))).toEqual(made)
  })

  test('is removed a day after another has replaced it, however old it is: a service may still run from it', async () => {
    const { folder, source } = await bundling()
    const names = () => readdirSync(bundles(folder))
    const ageAll = (hours: number) => {
      for (const name of names()) {
        const path = join(bundles(folder), name)
        utimesSync(path, new Date(), new Date(statSync(path).mtimeMs - hours * 3600 * 1000))
      }
    }
    started(folder)
    const [first] = names()
    mkdirSync(join(bundles(folder), 'unfinished.123'))
    ageAll(1000)
    source('name.ts', "export const name: string = 'three'")
    started(folder)
    expect(names()).toContain(first)
    expect(names()).toHaveLength(2)
    ageAll(23)
    source('name.ts', "export const name: string = 'fourth'")
    started(folder)
    expect(names()).toContain(first)
    ageAll(2)
    source('name.ts', "export const name: string = 'the fifth'")
    started(folder)
    expect(names()).not.toContain(first)
    expect(names()).toHaveLength(3)
  })

  test('is not tried where it cannot be stored: each start would take a second longer', async () => {
    const { folder } = await bundling()
    mkdirSync(join(folder, 'node_modules/.cache'))
    writeFileSync(bundles(folder), 'a file')
    writeFileSync(join(folder, 'bin/bundle.js'), "import { writeFileSync } from 'node:fs'\nwriteFileSync('tried', '')")
    expect(started(folder)).toBe(line('source', 'one'))
    expect(existsSync('tried')).toBe(false)
  })

  test('is not needed: without the bundler, with a source it cannot bundle, and where it cannot be stored, the sources run', async () => {
    const { folder, source } = await bundling()
    mkdirSync(join(folder, 'node_modules/.cache'))
    writeFileSync(bundles(folder), 'a file')
    expect(started(folder)).toBe(line('source', 'one'))
    rmSync(bundles(folder))
    source('unused.ts', "import './missing.ts'")
    source(
      'fail.ts',
      "\n\nexport const fail = (): string => new Error().stack!\nexport const other = () => import('./unused.ts')",
    )
    expect(started(folder)).toBe(line('source', 'one'))
    source('unused.ts', '')
    expect(started(folder)).toBe(line('bundle', 'one'))
    rmSync(join(folder, 'node_modules/rolldown'))
    source('unused.ts', ' ')
    expect(started(folder)).toBe(line('source', 'one'))
  })
})

const patient = `
  process.on('SIGTERM', () => process.exit(5))
  process.on('disconnect', () => process.exit(6))
  setInterval(() => {}, 1000)
  console.log('pid', process.pid, '.')
`

/** Stithy run by `bin/stithy.js` in a child process, as under a Node before 22.15. */
async function launchPatient() {
  const folder = await installation(patient)
  addPackagedNode(join(folder, 'node_modules'))
  const launched = new Launched([join(folder, 'bin/stithy.js')], {}, { file: withoutExecve.join('=') })
  await eventually(() => expect(launched.out).toContain('.'))
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

describe('a signal to npm stops the service', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))

  async function launchNpm(...words: string[]) {
    const env = await freshEnv()
    const folder = env.STITHY_DATA_DIR
    env['HOME'] = folder
    const launched = new Launched([`--prefix=${root}`, ...words], env, { node: 'npm', file: '--silent', cwd: root })
    await launched.ready()
    return { launched, family: launched.family(), folder }
  }

  test.for(['SIGTERM', 'SIGINT'] as const)('%s to npm start', async (signal) => {
    const { launched, family, folder } = await launchNpm('start')
    launched.process.kill(signal)
    expect(await launched.exit).toBe(0)
    await allGone(family)
    expect(existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(false)
  })

  test('SIGTERM to npm exec', async () => {
    const { launched, family } = await launchNpm('exec', '--offline', '--', 'stithy', 'serve')
    launched.process.kill('SIGTERM')
    await launched.exit
    await allGone(family)
  })
})

test('the real one tells its version', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const { stdout, status } = spawnSync(process.execPath, [bin, '--version'], { encoding: 'utf8' })
  expect([stdout, status]).toEqual([`${version}\n`, 0])
})
