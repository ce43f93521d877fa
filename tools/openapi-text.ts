import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../src/edges/http/openapi/document.ts'
import { areas } from '../src/modules/index.ts'
import { apiVersion } from '../src/modules/instance/version/version.ts'

export const openApiFile = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

/** The whole interface, on the plan that offers everything, a keyword a line. */
export const openApiText = (): string =>
  `${JSON.stringify(openApiDocument(areas, { plan: 'ultimate', version: apiVersion }), null, 1)}\n`
