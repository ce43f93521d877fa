import { createConfig, lint } from '@redocly/openapi-core'
import { openApiFile } from './openapi-text.ts'

// Checks docs/openapi.json against the rules that Redocly recommends. Warnings count as errors.

const config = await createConfig({
  extends: ['recommended'],
  rules: {
    // Compatible clients need such paths: `/projects/user/:id` and `/projects/:id/forks`. Fixed segments take precedence.
    'no-ambiguous-paths': 'off',
  },
})
const problems = await lint({ ref: openApiFile, config })
for (const { ruleId, message, location } of problems.slice(0, 50))
  console.log(`${ruleId}: ${message} (${location[0]?.pointer ?? ''})`)
console.log(problems.length === 0 ? 'docs/openapi.json follows the rules' : `${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
