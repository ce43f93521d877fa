import { fileURLToPath } from 'node:url'
import { newArea } from './scaffold/area.ts'

// `npm run new area planning/labels`: a folder that type-checks, with one endpoint and its test, listed in src/modules/endpoints.ts.
const [kind, noun] = process.argv.slice(2)
if (kind !== 'area' || noun === undefined) {
  console.error('usage: npm run new area <module>/<plural-noun>   for example: npm run new area review/merge-requests')
  process.exitCode = 2
} else {
  try {
    const written = await newArea(fileURLToPath(new URL('..', import.meta.url)), noun)
    console.log(`${written.map((file) => `wrote ${file}`).join('\n')}

Next: a table in src/db/migrations/ and its owner in tools/boundaries/tables.ts, a tag in src/edges/http/openapi/tags.ts, noun and table
in the README of the module, a row in test/api/permissions.ts, \`npm run openapi\`, then \`npm run check\` and
\`npx vitest run src/modules/${noun}\`. CONTRIBUTING.md has an endpoint in full.`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
