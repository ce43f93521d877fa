import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../src/edges/http/openapi/document.ts'
import { readExamples } from '../src/edges/http/openapi/examples.ts'
import { areas } from '../src/modules/endpoints.ts'
import { apiVersion, productVersion } from '../src/modules/instance/version/version.ts'

export const openApiFile = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

/** The document of the whole API, for the plan that offers everything, one keyword per line. */
export const openApiText = (): string =>
  `${JSON.stringify(openApiDocument(areas, { plan: 'ultimate', version: productVersion, apiVersion, examples: readExamples() }), null, 1)}\n`
