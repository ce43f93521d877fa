import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { areaFiles, namesOf } from './templates.ts'

/**
 * Writes a new area below `root` and lists it in modules/index.ts. Returns the files written. Refuses a noun that is no
 * plural in kebab-case, and one that is taken.
 */
export async function newArea(root: string, noun: string): Promise<string[]> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*s$/.test(noun))
    throw new Error(`an area is a plural noun in kebab-case, like merge-requests, not ${noun}`)
  const folder = join(root, 'src/areas', noun)
  if (await exists(folder)) throw new Error(`src/areas/${noun} is there already`)
  const names = namesOf(noun)
  const index = join(root, 'src/modules/index.ts')
  const listed = withArea(await readFile(index, 'utf8'), noun, `${names.camel}Routes`)
  await mkdir(folder)
  const files = areaFiles(names)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  await writeFile(index, listed)
  return [...Object.keys(files).map((name) => `src/areas/${noun}/${name}`), 'src/modules/index.ts']
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** The text of modules/index.ts with one more import and one more row, each in its alphabetical place. */
export function withArea(text: string, noun: string, routes: string): string {
  const statement = `import { ${routes} } from './${noun}/routes.ts'`
  const row = /^[a-z]+$/.test(noun) ? `  ${noun}: ${routes},` : `  '${noun}': ${routes},`
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith('export const areas'))
  const end = lines.indexOf('}', start)
  if (start < 0 || end < 0) throw new Error('modules/index.ts has no list called areas')
  const keyOf = (line: string): string => line.trim().replace(/^'/, '')
  insertSorted(lines, start + 1, end, row, keyOf)
  const last = lines.findLastIndex((line) => line.startsWith('import '))
  const first = lines.findIndex((line) => line.startsWith('import {') && line.includes("'./"))
  insertSorted(lines, first, last + 1, statement, (line) => line.slice(line.indexOf("'")))
  return lines.join('\n')
}

function insertSorted(lines: string[], from: number, to: number, line: string, keyOf: (line: string) => string): void {
  const at = lines.slice(from, to).findIndex((each) => keyOf(each) > keyOf(line))
  lines.splice(at < 0 ? to : from + at, 0, line)
}
