import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { operationIdOf } from '../src/edges/http/openapi/operation-id.ts'
import { endpoints } from '../src/modules/endpoints.ts'
import { validatorsOf } from '../test/answers.ts'
import type { Recorded } from '../test/examples.ts'

/*
 * Collects the examples of the OpenAPI document, src/edges/http/openapi/examples.json, from the answers of tests:
 * `npm run examples [test files]`, by default with tests that call most operations. An example that still fits its
 * operation is kept, so the file changes only where the API does; `npm run examples -- --all` collects all anew.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const file = join(root, 'src/edges/http/openapi/examples.json')
const given = process.argv.slice(2)
const all = given.includes('--all')
const named = given.filter((each) => !each.startsWith('--'))
const usual = [
  'gitbeaker',
  'permission-matrix',
  'rare-answers',
  'planning/epic',
  ...'follows gpg-keys/gpg ssh-keys/ssh accounts/tokens two-factor user-statuses users/emails users/read users/activities'.split(
    ' ',
  ),
  ...'event-feed appearance application-settings/app audit broadcast features pictures pipelines.test search.test'.split(
    ' ',
  ),
  ...'access-requests/access badges custom-attributes deploy-tokens/deploy notification resource-tokens variables'.split(
    ' ',
  ),
  ...'project-groups shared-projects shares.test forks.test transfers.test topics stars uploads deploy-keys/deploy'.split(
    ' ',
  ),
  ...'statistics version.test namespaces.test exists blame repository/branches commit-comments submodules templates trees'.split(
    ' ',
  ),
  ...'releases tags signatures compare languages terms awards award-emoji approvals notes todos labels milestones'.split(
    ' ',
  ),
]
const tests = named.length > 0 ? named : usual

type Examples = Record<string, unknown>

const fits = new Map(
  endpoints.map((e) => [
    operationIdOf(e),
    (value: unknown) => validatorsOf(e).some((validator) => validator.Check(value)),
  ]),
)

/** How much an example shows: its values that are neither null nor empty. Very long ones show too much. */
function merit(value: unknown): number {
  if (JSON.stringify(value).length > 12_000) return 0
  if (value === null || value === '') return 0
  return typeof value === 'object' ? Object.values(value).reduce((sum: number, inner) => sum + merit(inner), 0) : 1
}

const folder = mkdtempSync(join(tmpdir(), 'stithy-examples-'))
try {
  const before: Examples = all ? {} : (JSON.parse(readFileSync(file, 'utf8')) as Examples)
  const examples: Examples = Object.fromEntries(
    Object.entries(before).filter(([operation, value]) => fits.get(operation)?.(value)),
  )
  const kept = new Set(Object.keys(examples))
  spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, STITHY_EXAMPLES_DIR: folder },
  })
  for (const each of readdirSync(folder).sort())
    for (const line of readFileSync(join(folder, each), 'utf8').trim().split('\n')) {
      const { operation, answer } = JSON.parse(line) as Recorded
      if (kept.has(operation) || !fits.get(operation)?.(answer)) continue
      if (!(operation in examples) || merit(answer) > merit(examples[operation])) examples[operation] = answer
    }
  const sorted = Object.fromEntries(Object.entries(examples).sort(([one], [other]) => (one < other ? -1 : 1)))
  writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`)
  const wanted = endpoints.filter((e) => validatorsOf(e).length > 0).map(operationIdOf)
  const missing = wanted.filter((operation) => !(operation in sorted))
  console.log(`${Object.keys(sorted).length} examples, ${Object.keys(sorted).length - kept.size} of them new`)
  if (missing.length > 0) console.log(`no test answered these:\n  ${missing.join('\n  ')}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
