import { readFileSync } from 'node:fs'

/** Version of the API that clients expect; they compare it with the version they need. */
export const apiVersion = '12.10.0-ee'

const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Version of this product, from package.json. */
export const productVersion = version

export const revision = `stithy-${productVersion}`
