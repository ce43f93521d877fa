import type { Module } from './modules.ts'

/** A boundary: the files it applies to, and what violates it. */
export type Boundary = {
  readonly name: string
  /** Printed with every violation: what to do instead. */
  readonly instead: string
  /** Files it applies to; all if absent. */
  readonly of?: RegExp
  readonly except?: RegExp
  /** Whether an import violates it. */
  readonly refuses?: (imported: string, from: string) => boolean
  /** Whether the path of the file violates it. */
  readonly refusesFile?: (path: string) => boolean
  /** Code that violates it. */
  readonly forbids?: RegExp
  /** Whether it is about tests and their helpers; otherwise these are free. */
  readonly ofTests?: true
}

const named = (pattern: RegExp) => (imported: string) => pattern.test(imported)

/** Layers in ascending order: each may import itself and the listed ones. */
const layers: readonly (readonly [folder: string, mayImport: string])[] = [
  ['kernel', ''],
  ['git', 'kernel'],
  ['db', 'kernel'],
  ['blobs', 'kernel|db'],
  ['access', 'kernel'],
  ['settings', 'kernel|db|access'],
  ['events', 'kernel|git|db'],
  ['mail', 'kernel'],
  ['markdown', 'kernel'],
  ['api', 'kernel|git|blobs|mail|db|access|settings'],
  ['jobs', 'kernel|git|blobs|mail|db|access|settings|events|api'],
  ['modules', 'kernel|git|blobs|mail|markdown|db|access|settings|events|api|jobs'],
  ['edges', 'kernel|git|blobs|mail|db|access|settings|events|api|jobs|modules'],
  ['backup', 'kernel|git|blobs|db|events|modules'],
]

const layer = ([folder, mayImport]: readonly [string, string]): Boundary => {
  const allowed = new RegExp(`^src/(${[folder, ...mayImport.split('|')].filter(Boolean).join('|')})/`)
  return {
    name: `${folder}-imports-what-is-below`,
    instead: `src/${folder}/ may import ${mayImport === '' ? 'nothing of ours' : mayImport.replaceAll('|', ', ')}`,
    of: new RegExp(`^src/${folder}/`),
    refuses: (imported) => imported.startsWith('src/') && !allowed.test(imported),
  }
}

/** Modules in order (docs/adr/0018): each may import those before it. */
export const moduleOrder = [
  'instance',
  'namespaces',
  'accounts',
  'projects',
  'groups',
  'pushes',
  'administration',
  'ci',
  'discussion',
  'repository',
  'planning',
  'text',
  'registry',
  'lifecycle',
  'transport',
  'review',
  'activity',
  'integrations',
  'portability',
] as const

/** The module of a file below `src/modules/<module>/`, and the rest of its path. */
function placeOf(path: string): { module: string; rest: string } | undefined {
  const [, module, rest] = /^src\/modules\/([^/]+)\/(.+)$/.exec(path) ?? []
  return module === undefined || rest === undefined ? undefined : { module, rest }
}

const positionOf = (module: string): number => (moduleOrder as readonly string[]).indexOf(module)

/** Tests and their helpers may import anything. */
export const isTest = (path: string): boolean => /\.test\.ts$|\.check\.ts$|\/testing\.ts$/.test(path)

const isOfTests = (path: string): boolean => isTest(path) || path.startsWith('test/')

export const boundaries: readonly Boundary[] = [
  ...layers.map(layer),
  {
    name: 'modules-import-earlier-modules',
    instead: `the order is ${moduleOrder.join(', ')}; what follows in a later module is a row of src/reactions.ts`,
    of: /^src\/modules\/[^/]+\//,
    refuses: (imported, from) => {
      const [own, other] = [placeOf(from)!, placeOf(imported)]
      return other !== undefined && other.module !== own.module && positionOf(other.module) >= positionOf(own.module)
    },
  },
  {
    name: 'every-module-has-its-place',
    instead: 'add the module to moduleOrder in tools/boundaries/rules.ts, and a README.md to its folder',
    of: /^src\/modules\/[^/]+\//,
    refusesFile: (path) => positionOf(placeOf(path)!.module) < 0,
  },
  {
    name: 'modules-are-imported-by-their-face',
    instead: 'import src/modules/<module>/index.ts, and export from there what others may use',
    of: /^src\//,
    // The lists of all endpoints and of all jobs.
    except: /^src\/modules\/(endpoints|jobs)\.ts$/,
    refuses: (imported, from) => {
      const other = placeOf(imported)
      return other !== undefined && other.module !== placeOf(from)?.module && other.rest !== 'index.ts'
    },
  },
  {
    name: 'a-face-is-for-others',
    instead: 'import the file itself: a module does not import its own face',
    of: /^src\/modules\/[^/]+\//,
    refuses: (imported, from) => {
      const [own, other] = [placeOf(from)!, placeOf(imported)]
      return other?.module === own.module && other.rest === 'index.ts'
    },
  },
  {
    name: 'nothing-imports-the-list-of-modules',
    instead: 'only http.ts knows all endpoints, so that other processes do not load them, and only app.ts all jobs',
    of: /^src\//,
    refuses: (imported, from) =>
      (imported === 'src/modules/endpoints.ts' && from !== 'src/http.ts') ||
      (imported === 'src/modules/jobs.ts' && from !== 'src/app.ts'),
  },
  {
    name: 'edges-do-not-know-each-other',
    instead: 'what transports share lies in edges/http or in a module',
    of: /^src\/edges\//,
    refuses: (imported, from) => {
      const other = /^src\/edges\/([^/]+)\//.exec(imported)?.[1]
      return other !== undefined && other !== 'http' && !from.startsWith(`src/edges/${other}/`)
    },
  },
  {
    name: 'only-git-and-processes-start-processes',
    instead: 'start git through src/git/runner, ours through src/processes',
    of: /^src\//,
    except: /^src\/(git|processes|db\/embedded)\//,
    refuses: named(/^(node:)?(child_process|cluster)$/),
  },
  {
    name: 'only-http-edges-know-fastify',
    instead: 'declare an endpoint, or add a route under src/edges/',
    of: /^src\//,
    except: /^src\/edges\/(http|git-http|lfs)\//,
    refuses: named(/^(@?fastify$|fastify\/|@fastify\/)/),
  },
  {
    name: 'only-config-reads-the-environment',
    instead: 'name the setting in src/config.ts and pass it',
    of: /^src\//,
    // The runner passes git a PATH, the launcher passes its children their variables.
    except: /^src\/(config\.ts$|main\.ts$|git\/(runner|environment)|processes\/|db\/embedded\/)/,
    forbids:
      /\bprocess\.env\b|\bprocess\[['"]env['"]\]|\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*['"](node:)?process['"])/,
  },
  {
    name: 'durations-use-the-monotonic-clock',
    instead: 'measure with performance.now(), and ages with kernel/clock.ts: the wall clock may be set at any time',
    of: /^src\//,
    // Displayed dates, time-based codes, and file times.
    except:
      /^src\/(kernel\/clock\.ts$|git\/(refs\/ref-files|objects\/prefixes)\.ts$|blobs\/conformance\.ts$|modules\/(accounts\/(tokens\/service|two-factor\/(codes|testing))|administration\/broadcast-messages\/service|pushes\/large-files\/credentials|registry\/tokens\/web-token)\.ts$)/,
    forbids: /\bDate\.now\b/,
  },
  {
    name: 'clients-survive-a-lost-connection',
    instead: 'call newClient of db/client.ts: without a listener of errors the process ends when the connection breaks',
    of: /^src\//,
    except: /^src\/db\/client\.ts$|\.test\.ts$|\/testing\//,
    forbids: /\bnew (pg\.)?Client\(/,
  },
  {
    name: 'sql-is-written-in-queries',
    instead: 'put the statement into queries.ts (or a file called …-queries.ts)',
    of: /^src\//,
    except: /^src\/(db|jobs|events|settings)\/|^src\/api\/(list|page)\.ts$|(\/|-)queries\.ts$/,
    refuses: named(/^src\/db\/sql\.ts$|^sql-template-tag$/),
  },
  {
    name: 'tests-are-not-shipped',
    instead: 'move what both need out of the test',
    of: /^src\//,
    refuses: (imported) => imported.startsWith('test/') || imported.startsWith('tools/') || isTest(imported),
  },
  {
    name: 'tests-read-tables-through-the-world',
    instead: 'call a function of test/tables/ or test/jobs.ts, named by what it asks, or add one there',
    ofTests: true,
    // Tests of the database itself, of plans and SQL twins, of databases that fail, and what the world is made of.
    except:
      /^src\/db\/|^src\/modules\/(namespaces\/access-index|discussion\/noteables)\/twins\.test\.ts$|^test\/(tables\/|tools\/|(behind-proxy|jobs|world|global-setup|older-release|recompute-access)\.ts$|api\/(types\.check|metrics-access\.test)\.ts$|list-plans\/|packaging\/|scenarios\/(moved-comments|newer-schema|older-data|operator-commands|restored-database)\.test\.ts$)/,
    refuses: named(/^src\/db\/sql\.ts$|^pg$/),
    forbids: /\b(?:world|this\.#?world)\.rows\(|\.(?:rows|query)\(\s*['"`]\s*\w/,
  },
]

export type Violation = {
  readonly rule: string
  readonly file: string
  readonly what: string
  readonly instead: string
}

/** All violations in the order of the files, then cycles. */
export function violations(modules: readonly Module[]): Violation[] {
  const shipped = modules.filter(({ path }) => !isOfTests(path))
  const broken = modules.flatMap((module) =>
    boundaries
      .filter(({ ofTests = false }) => ofTests === isOfTests(module.path))
      .filter(({ of, except }) => (of?.test(module.path) ?? true) && !except?.test(module.path))
      .flatMap(({ name, instead, refuses, refusesFile, forbids }) => [
        ...(refusesFile?.(module.path) ? [{ rule: name, file: module.path, what: 'lies there', instead }] : []),
        ...module.imports
          .filter((imported) => refuses?.(imported, module.path))
          .map((imported) => ({ rule: name, file: module.path, what: `imports ${imported}`, instead })),
        ...(forbids?.test(module.code)
          ? [{ rule: name, file: module.path, what: `says ${forbids.exec(module.code)![0]}`, instead }]
          : []),
      ]),
  )
  return [...broken, ...fileCycles(shipped), ...folderCycles(shipped)]
}

/** Each cycle of files once, from its first file by name. */
const fileCycles = (modules: readonly Module[]): Violation[] =>
  cyclesOf(new Map(modules.map(({ path, imports }) => [path, new Set(imports)]))).map((cycle) => ({
    rule: 'no-cycles-of-files',
    file: cycle[0]!,
    what: cycle.join(' → '),
    instead: 'move what both need into a file of its own',
  }))

/** The folder of a file: for modules the folder of its noun, otherwise its own. */
function folderOf(path: string): string | undefined {
  const noun = /^src\/modules\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0]
  if (noun !== undefined) return noun
  return path.startsWith('src/modules/') ? undefined : /^src\/.+(?=\/)/.exec(path)?.[0]
}

/** Each cycle of folders once, including cycles without a cycle of files. */
function folderCycles(modules: readonly Module[]): Violation[] {
  return cyclesOf(folderGraph(modules)).map((cycle) => ({
    rule: 'no-cycles-of-folders',
    file: cycle[0]!,
    what: cycle.join(' → '),
    instead: 'move what both need into the lower folder, or make what follows a reaction',
  }))
}

/** Folder → the folders it imports, and the modules whose face it imports. Tests are left out: they may import anything. */
export function folderGraph(modules: readonly Module[]): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of modules) {
    const from = folderOf(path)
    if (from === undefined || isTest(path) || path.includes('/testing/')) continue
    const to = graph.get(from) ?? new Set<string>()
    graph.set(from, to)
    for (const imported of imports) {
      const folder = folderOf(imported) ?? /^src\/modules\/[^/]+(?=\/index\.ts$)/.exec(imported)?.[0]
      if (folder !== undefined && folder !== from) to.add(folder)
    }
  }
  return graph
}

/** Cycles of a graph, each once, from the node at which it was found, which is repeated at the end. */
function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const done = new Set<string>()
  const found: string[][] = []
  const visit = (node: string, trail: readonly string[]): void => {
    const at = trail.indexOf(node)
    if (at >= 0) return void found.push([...trail.slice(at), node])
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return found
}
