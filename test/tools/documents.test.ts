import { readdirSync, readFileSync } from 'node:fs'
import { dirname, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import GithubSlugger from 'github-slugger'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../src/events/catalogue.ts'
import { readModules } from '../../tools/boundaries/modules.ts'
import { isTest, moduleOrder } from '../../tools/boundaries/rules.ts'
import { tablesOf } from '../../tools/boundaries/tables.ts'
import { shownOnly } from '../../tools/unread-inputs/names.ts'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

/** All files and folders of the repository that documents can name. */
const entries: ReadonlySet<string> = new Set([
  ...readdirSync(root),
  ...['.ci', 'bench', 'bin', 'docs', 'packaging', 'src', 'test', 'tools'].flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  ),
])
const documents = [...entries].filter((path) => path.endsWith('.md')).sort()
const folders = (path: string): string[] =>
  readdirSync(`${root}/${path}`, { withFileTypes: true }).flatMap((each) => (each.isDirectory() ? each.name : []))

/** Folders with which a path in a document may start. */
const beginnings = new Set(['src', 'bench', 'bin', 'docs', 'test', 'tools', ...folders('src')])

/** The code spans of a document that look like paths of files or folders. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*)\/?`/g)]
    .map(([, path]) => path!)
    .filter((path) => /\.(ts|js|sql|md)$/.test(path) || (path.includes('/') && beginnings.has(path.split('/')[0]!)))

/** A path may leave out its beginning, such as `src/`; in the README of a module, a path without a folder names a file of the module. */
function exists(path: string, document: string): boolean {
  if (entries.has(path)) return true
  const module = /^src\/modules\/[^/]+\//.exec(document)?.[0]
  const within = module !== undefined && !path.includes('/') ? module : ''
  return [...entries].some((entry) => entry.startsWith(within) && entry.endsWith(`/${path}`))
}

const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!.replace(/#.*/, ''))
    .filter((target) => target !== '')

/** The anchors of the headings of a document. */
function anchorsOf(text: string): ReadonlySet<string> {
  const slugger = new GithubSlugger()
  return new Set([...text.matchAll(/^#+ +(.+)$/gm)].map(([, title]) => slugger.slug(title!.replaceAll('`', ''))))
}

describe('documents', () => {
  test.for(documents)('links and paths in %s exist', (document) => {
    const text = read(document)
    const broken = linksIn(text).filter(
      (target) => !/^https?:/.test(target) && !entries.has(normalize(`${dirname(document)}/${target}`)),
    )
    const lost = [...text.matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)].filter(([, target, anchor]) => {
      const file = target === '' ? document : normalize(`${dirname(document)}/${target}`)
      return (
        !/^https?:/.test(target!) && file.endsWith('.md') && entries.has(file) && !anchorsOf(read(file)).has(anchor!)
      )
    })
    expect([
      ...broken,
      ...lost.map(([link]) => link),
      ...pathsIn(text).filter((path) => !exists(path, document)),
    ]).toEqual([])
  })

  test.for(documents)('npm scripts in %s exist', (document) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }
    const named = [...read(document).matchAll(/\bnpm run ([a-z][\w:-]*)/g)].map(([, name]) => name!)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  test('ARCHITECTURE.md answers ten questions or more with paths from the root, and has at most 200 lines', () => {
    const text = read('ARCHITECTURE.md')
    const answers = [...text.matchAll(/^\| (?:Where|Who|What) .*\? \| (.*) \|$/gm)].map(([, answer]) =>
      pathsIn(answer!),
    )
    expect(answers.length).toBeGreaterThanOrEqual(10)
    for (const paths of answers) expect(paths).not.toEqual([])
    expect(answers.flat().filter((path) => !entries.has(path))).toEqual([])
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(200)
  })

  test('docs/api-conventions.md names the settings of projects that are shown and change nothing', () => {
    const [item] = /^- Settings of projects for parts that do not exist here(?:.|\n(?!- ))*/m.exec(
      read('docs/api-conventions.md'),
    )!
    const named = [...item.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
    expect(named.sort()).toEqual(Object.keys(shownOnly).sort())
  })

  test('no two items of CHANGELOG.md begin with the same sixty characters, as after a merge', () => {
    const begins = [...read('CHANGELOG.md').matchAll(/^- (?:.|\n(?! *- |\n|#))*/gm)].map(([item]) =>
      item.replace(/\s+/g, ' ').slice(0, 60),
    )
    expect(begins.length).toBeGreaterThan(300)
    expect(begins.filter((each, at) => begins.indexOf(each) !== at)).toEqual([])
  })

  test('README.md lists the environment variables that the configuration reads', () => {
    const named = (path: string) => [...new Set(read(path).match(/\bSTITHY_[A-Z_]*[A-Z]\b/g))].sort()
    expect(named('README.md')).toEqual(named('src/config.ts'))
  })
})

describe('READMEs of modules', () => {
  /** The code spans of a line such as `- **Tables**: …`, which may continue on further lines. */
  const listed = (module: string, title: string): string[] => {
    const [, line] = new RegExp(`^- \\*\\*${title}\\*\\*: ((?:.|\\n  )*)`, 'm').exec(
      read(`src/modules/${module}/README.md`),
    )!
    return [...line!.matchAll(/`([\w-]+)`/g)].map(([, name]) => name!)
  }

  test.for(moduleOrder)('the README of %s lists its nouns and tables', (module) => {
    expect(listed(module, 'Nouns')).toEqual(folders(`src/modules/${module}`).sort())
    expect(listed(module, 'Tables')).toEqual([...tablesOf(module)].sort())
  })

  test('the READMEs list every event of the catalogue, each where it is emitted', async () => {
    const shipped = (await readModules(root, 'src/modules')).filter(({ path }) => !isTest(path))
    const emits = (module: string, event: string) =>
      shipped.some(({ path, code }) => path.startsWith(`src/modules/${module}/`) && code.includes(`'${event}'`))
    const all = moduleOrder.flatMap((module) => listed(module, 'Events').map((event) => [module, event] as const))
    expect(all.filter(([module, event]) => !emits(module, event))).toEqual([])
    expect([...new Set(all.map(([, event]) => event))].sort()).toEqual(Object.keys(catalogue).sort())
  })
})
