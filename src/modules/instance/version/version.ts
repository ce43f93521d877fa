import { readFileSync } from 'node:fs'

/** Clients compare this with what they need: the release of the interface that the documents describe. */
export const apiVersion = '12.10.0-ee'

const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Our own release. */
export const revision = `stithy-${version}`
