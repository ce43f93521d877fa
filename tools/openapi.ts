import { writeFile } from 'node:fs/promises'
import { openApiFile, openApiText } from './openapi-text.ts'

// Writes docs/openapi.json, whose diff is reviewed. `npm run check` fails while it is not up to date.
await writeFile(openApiFile, openApiText())
