import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { moduleOrder } from '../boundaries/rules.ts'
import { areaFiles, namesOf } from './templates.ts'

/**
 * Creates the folder of a new noun in a module, `planning/labels`, and lists it in src/modules/endpoints.ts. Returns the files
 * written. Throws for an unknown module, a noun that is not a plural in kebab-case, and an existing folder.
 */
export async function newArea(root: string, place: string): Promise<string[]> {
  const [, module, noun] = /^([a-z-]+)\/([a-z][a-z0-9]*(?:-[a-z0-9]+)*s)$/.exec(place) ?? []
  if (module === undefined || noun === undefined)
    throw new Error(`name a module and a plural noun in kebab-case, like review/merge-requests, not ${place}`)
  if (!(moduleOrder as readonly string[]).includes(module))
    throw new Error(`there is no module ${module}; the modules are ${moduleOrder.join(', ')}`)
  const folder = join(root, 'src/modules', place)
  if (await exists(folder)) throw new Error(`src/modules/${place} exists`)
  const names = namesOf(noun)
  const index = join(root, 'src/modules/endpoints.ts')
  const listed = withArea(await readFile(index, 'utf8'), place, `${names.camel}Routes`)
  await mkdir(folder)
  const files = areaFiles(names, module)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  await writeFile(index, listed)
  return [...Object.keys(files).map((name) => `src/modules/${place}/${name}`), 'src/modules/endpoints.ts']
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** The text of src/modules/endpoints.ts with one more import and one more row, each in alphabetical order. */
export function withArea(text: string, place: string, routes: string): string {
  const noun = place.split('/').at(-1)!
  const statement = `import { ${routes} } from './${place}/routes.ts'`
  const row = /^[a-z]+$/.test(noun) ? `  ${noun}: ${routes},` : `  '${noun}': ${routes},`
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith('export const areas'))
  const end = lines.indexOf('}', start)
  if (start < 0 || end < 0) throw new Error('src/modules/endpoints.ts has no list called areas')
  const keyOf = (line: string): string => line.trim().replace(/^'/, '')
  insertSorted(lines, start + 1, end, row, keyOf)
  return withImport(lines.join('\n'), statement)
}

/** Inserts an import before the first of a later path; an import may have several lines. */
function withImport(text: string, statement: string): string {
  const imports = [...text.matchAll(/^import [^']*'(\.\/[^']*)'$/gm)]
  const path = /'(.*)'/.exec(statement)![1]!
  const next = imports.find(([, other]) => other! > path)
  const at = next ? next.index : imports.at(-1)!.index + imports.at(-1)![0].length + 1
  return `${text.slice(0, at)}${statement}\n${text.slice(at)}`
}

function insertSorted(lines: string[], from: number, to: number, line: string, keyOf: (line: string) => string): void {
  const at = lines.slice(from, to).findIndex((each) => keyOf(each) > keyOf(line))
  lines.splice(at < 0 ? to : from + at, 0, line)
}
