import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Every check that does not run the product, each with the command that repeats it alone. */
const steps: readonly { name: string; command: readonly string[] }[] = [
  // One thread: several checkers would each check the same large types, for twice the memory and no less time.
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '--noEmit', '--singleThreaded'] },
  {
    name: 'lint and format',
    command: [
      'node_modules/@biomejs/biome/bin/biome',
      'check',
      '--error-on-warnings',
      '--max-diagnostics=50',
      '--colors=off',
    ],
  },
  { name: 'format of SQL', command: ['tools/sql-format.ts'] },
  { name: 'boundaries', command: ['tools/boundaries.ts'] },
  {
    name: 'unused code',
    command: ['node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints'],
  },
  {
    name: 'code that only tests use',
    command: [
      'node_modules/knip/bin/knip.js',
      '--no-progress',
      '--production',
      '--exclude=dependencies,unlisted,binaries',
    ],
  },
  { name: 'english', command: ['tools/english.ts'] },
  { name: 'generated files', command: ['tools/openapi.ts', '--check'] },
  { name: 'openapi rules', command: ['tools/openapi-lint.ts'] },
  { name: 'generated pages', command: ['tools/settings.ts', '--check'] },
  { name: 'inputs without effect', command: ['tools/unread-inputs.ts'] },
  { name: 'list of events', command: ['tools/events.ts', '--check'] },
  { name: 'regular expressions', command: ['tools/regular-expressions.ts'] },
]

type Outcome = { ok: boolean; output: string; seconds: number }

function run(command: readonly string[]): Promise<Outcome> {
  const began = performance.now()
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const end = (ok: boolean) => resolve({ ok, output, seconds: (performance.now() - began) / 1000 })
    child.on('error', (error) => {
      output += error.message
      end(false)
    })
    child.on('close', (code) => end(code === 0))
  })
}

const outcomes = await Promise.all(
  steps.map(async ({ name, command }) => {
    const outcome = await run(command)
    console.log(`${outcome.ok ? 'ok    ' : 'FAILED'} ${name.padEnd(24)} ${outcome.seconds.toFixed(1).padStart(5)} s`)
    return { name, command, ...outcome }
  }),
)
const failed = outcomes.filter(({ ok }) => !ok)
for (const { name, command, output } of failed)
  console.log(`\n--- ${name}: npx node ${command.join(' ')}\n${output.trim()}`)
console.log(failed.length === 0 ? '\nAll checks passed' : `\n${failed.length} of ${steps.length} checks failed`)
process.exitCode = failed.length === 0 ? 0 : 1
