import { readFileSync } from 'node:fs'

/** The release of the API that clients expect; they compare it with the release they need. */
export const apiVersion = '12.10.0-ee'

const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** The release of this product, from package.json. */
export const productVersion = version

export const revision = `stithy-${productVersion}`
