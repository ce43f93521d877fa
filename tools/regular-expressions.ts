import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exceptions, literalsOf } from './regular-expressions/literals.ts'
import { slowExpressions } from './regular-expressions/slow.ts'

// Finds regular expressions of the product that may take more than linear time: a text of a megabyte would stop a worker for minutes, and
// with exponential time thirty characters are enough. Those that were found linear before are not analysed again.
const root = fileURLToPath(new URL('..', import.meta.url))
const cacheFile = `${root}/node_modules/.cache/stithy/linear-expressions.json`

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', 'src/*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && !/\.test\.ts$|\/testing(\.ts$|\/)/.test(file))

/** Where each literal is. */
const places = new Map<string, string[]>()
for (const file of files)
  for (const { literal, line } of literalsOf(readFileSync(`${root}/${file}`, 'utf8')))
    places.set(literal, [...(places.get(literal) ?? []), `${file}:${line}`])

function readCache(): Set<string> {
  try {
    return new Set(JSON.parse(readFileSync(cacheFile, 'utf8')) as string[])
  } catch {
    return new Set()
  }
}

const known = readCache()
const asked = [...places.keys()].filter((literal) => exceptions[literal] === undefined && !known.has(literal))
const { slow, undecided } = await slowExpressions(asked)
mkdirSync(dirname(cacheFile), { recursive: true })
const linear = [...places.keys()].filter(
  (literal) => known.has(literal) || (asked.includes(literal) && !slow.has(literal) && !undecided.has(literal)),
)
writeFileSync(cacheFile, JSON.stringify(linear))

const problems = [
  ...[...slow].map(([literal, why]) => `${places.get(literal)!.join(', ')}: ${literal} ${why}`),
  ...Object.keys(exceptions)
    .filter((literal) => !places.has(literal))
    .map((literal) => `${literal} is an exception in tools/regular-expressions/literals.ts and no longer exists`),
]
for (const literal of undecided) console.log(`${places.get(literal)!.join(', ')}: ${literal} was not decided in time`)
console.log(
  problems.length === 0 ? 'No regular expression is known to take more than linear time' : problems.join('\n'),
)
process.exitCode = problems.length === 0 ? 0 : 1
