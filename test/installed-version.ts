import { readFileSync } from 'node:fs'

/** The version of a package in node_modules. */
export function installedVersion(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
