import { fileURLToPath } from 'node:url'
import { areas } from '../src/areas/index.ts'
import { apiVersion } from '../src/areas/version/version.ts'
import { openApiDocument } from '../src/edges/http/openapi/document.ts'

export const openApiFile = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

/** The whole interface, on the plan that offers everything, a keyword a line. */
export const openApiText = (): string =>
  `${JSON.stringify(openApiDocument(areas, { plan: 'ultimate', version: apiVersion }), null, 1)}\n`
