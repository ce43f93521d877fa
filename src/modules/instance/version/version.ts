import { readFileSync } from 'node:fs'

/** The release whose features clients may expect: some compare it with what they need (ADR 42). */
export const apiVersion = '13.12.0-ee'

const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Version of this product, from package.json. */
export const productVersion = version

export const revision = `stithy-${productVersion}`
