import { readFile, writeFile } from 'node:fs/promises'
import { openApiFile, openApiText } from './openapi-text.ts'

// Writes docs/openapi.json, whose diff is reviewed. With --check, reports whether it is up to date.
const text = openApiText()
if (!process.argv.includes('--check')) await writeFile(openApiFile, text)
else if ((await readFile(openApiFile, 'utf8').catch(() => '')) === text) console.log('docs/openapi.json is up to date')
else {
  console.log('docs/openapi.json is not what the endpoints say: run `npm run openapi` and commit the difference')
  process.exitCode = 1
}
