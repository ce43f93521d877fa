import type { Module } from './modules.ts'

/** A boundary: which files it is about, and what of them breaks it. */
export type Boundary = {
  readonly name: string
  /** Said with every violation: what to do instead. */
  readonly instead: string
  /** Files it is about; all without. */
  readonly of?: RegExp
  readonly except?: RegExp
  /** What one of its imports breaks it. */
  readonly refuses?: (imported: string, from: string) => boolean
  /** Code that breaks it. */
  readonly forbids?: RegExp
}

const named = (pattern: RegExp) => (imported: string) => pattern.test(imported)

/** Layers from the ground up: each imports itself, those before it, and no other of ours. */
const layers: readonly (readonly [folder: string, mayImport: string])[] = [
  ['kernel', ''],
  ['git', 'kernel'],
  ['blobs', 'kernel'],
  ['db', 'kernel'],
  ['access', 'kernel'],
  ['settings', 'kernel|db|access'],
  ['events', 'kernel|db'],
  ['mail', 'kernel'],
  ['api', 'kernel|git|blobs|mail|db|access|settings'],
  ['jobs', 'kernel|git|blobs|mail|db|access|settings|events|api'],
  ['areas', 'kernel|git|blobs|mail|db|access|settings|events|api|jobs'],
  ['edges', 'kernel|git|blobs|mail|db|access|settings|events|api|jobs|areas'],
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

/** Areas everything stands on, in order; `users` and `tokens` are one step. */
const floor = [
  'instance',
  'access-index',
  'avatars',
  'namespaces',
  'mails',
  'users|tokens',
  'repositories',
  'projects',
  'groups',
  'members',
]

const floorStep = (step: string, index: number): Boundary => {
  const allowed = new RegExp(`^src/areas/(${floor.slice(0, index + 1).join('|')})/`)
  return {
    name: `floor-${step.replace('|', '-and-')}`,
    instead: `the areas ${floor.join(', ').replace('|', ' and ')} import those before them only; what follows from a change is an event`,
    of: new RegExp(`^src/areas/(${step})/`),
    refuses: (imported) => imported.startsWith('src/areas/') && !allowed.test(imported),
  }
}

/** Tests and their helpers may import anything. */
export const isTest = (path: string): boolean => /\.test\.ts$|\.check\.ts$|\/testing\.ts$/.test(path)

export const boundaries: readonly Boundary[] = [
  ...layers.map(layer),
  ...floor.map(floorStep),
  {
    name: 'areas-open-few-doors',
    instead: 'import its subject, entity, queries or service, or emit an event',
    of: /^src\/areas\/[^/]+\//,
    refuses: (imported, from) => {
      const other = /^src\/areas\/([^/]+)\/(.*)$/.exec(imported)
      return other !== null && !from.startsWith(`src/areas/${other[1]}/`) && /(^|-)routes\.ts$/.test(other[2]!)
    },
  },
  {
    name: 'nothing-imports-the-list-of-areas',
    instead: 'only app.ts knows all areas',
    of: /^src\/(?!app\.ts|main\.ts)/,
    refuses: named(/^src\/areas\/index\.ts$/),
  },
  {
    name: 'edges-do-not-know-each-other',
    instead: 'what doors share lies in edges/http or in an area',
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
    instead: 'declare an endpoint, or write a door under src/edges/',
    of: /^src\//,
    except: /^src\/edges\/(http|git-http|lfs|registry)\//,
    refuses: named(/^(@?fastify$|fastify\/|@fastify\/)/),
  },
  {
    name: 'only-config-reads-the-environment',
    instead: 'name the setting in src/config.ts and pass it',
    of: /^src\//,
    // The runner hands git a PATH, the starter its children what they need.
    except: /^src\/(config\.ts$|main\.ts$|git\/(runner|environment)|processes\/|db\/embedded\/)/,
    forbids:
      /\bprocess\.env\b|\bprocess\[['"]env['"]\]|\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*['"](node:)?process['"])/,
  },
  {
    name: 'sql-is-written-in-queries',
    instead: 'put the statement into queries.ts (or a file called …-queries.ts)',
    of: /^src\//,
    except: /^src\/(db|jobs|events|settings)\/|^src\/api\/page\.ts$|(\/|-)queries\.ts$/,
    refuses: named(/^src\/db\/sql\.ts$|^sql-template-tag$/),
  },
  {
    name: 'tests-are-not-shipped',
    instead: 'move what both need out of the test',
    of: /^src\//,
    refuses: (imported) => imported.startsWith('test/') || imported.startsWith('tools/') || isTest(imported),
  },
]

export type Violation = {
  readonly rule: string
  readonly file: string
  readonly what: string
  readonly instead: string
}

/** Everything that breaks a boundary, in the order of the files; cycles last. */
export function violations(modules: readonly Module[]): Violation[] {
  const shipped = modules.filter(({ path }) => !isTest(path))
  const broken = shipped.flatMap((module) =>
    boundaries
      .filter(({ of, except }) => (of?.test(module.path) ?? true) && !except?.test(module.path))
      .flatMap(({ name, instead, refuses, forbids }) => [
        ...module.imports
          .filter((imported) => refuses?.(imported, module.path))
          .map((imported) => ({ rule: name, file: module.path, what: `imports ${imported}`, instead })),
        ...(forbids?.test(module.code)
          ? [{ rule: name, file: module.path, what: `says ${forbids.exec(module.code)![0]}`, instead }]
          : []),
      ]),
  )
  return [...broken, ...cycles(shipped)]
}

/** Each circle of imports once, from the first file (by name) in it. */
function cycles(modules: readonly Module[]): Violation[] {
  const imports = new Map(modules.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const found: Violation[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) {
      const circle = [...trail.slice(at), path].join(' → ')
      found.push({ rule: 'no-cycles', file: path, what: circle, instead: 'move what both need into a file of its own' })
      return
    }
    if (done.has(path)) return
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const { path } of modules) visit(path, [])
  return found
}
