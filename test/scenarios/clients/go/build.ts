import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * Builds `flow.go` with a library. As a program (`node build.ts client-go`) it also downloads the library; tests download nothing.
 */

const current = 'gitlab.com/gitlab-org/api/client-go/v2'

/** How the flow is written for each library: `client-go` needs Go 1.25, its predecessor Go 1.19. */
const libraries = {
  'client-go': { path: current, number: 'int64' },
  'go-gitlab': { path: 'github.com/xanzy/go-gitlab', number: 'int' },
} as const
export type Library = keyof typeof libraries
export const libraryNames = Object.keys(libraries) as Library[]

const here = import.meta.dirname

const go = (cwd: string, args: readonly string[], env: Record<string, string> = { GOPROXY: 'off' }): string =>
  execFileSync('go', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly -buildvcs=false', ...env },
  })

/** Why the flow cannot be built here with this library; undefined if it can. */
export function missing(library: Library): string | undefined {
  try {
    const found = go(join(here, library), ['list', '-m', '-f', '{{.Dir}}', libraries[library].path])
    return found.trim() === '' ? 'the library is not installed; npm run clients installs it' : undefined
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: string }
    return code === 'ENOENT' ? 'go is not installed' : `go refuses: ${stderr?.trim()}`
  }
}

/** Builds the flow and returns its program. */
export function build(library: Library, env?: Record<string, string>): string {
  const folder = join(here, '..', '.installed', library)
  mkdirSync(folder, { recursive: true })
  for (const file of ['go.mod', 'go.sum']) copyFileSync(join(here, library, file), join(folder, file))
  const { path, number } = libraries[library]
  const flow = readFileSync(join(here, 'flow.go'), 'utf8')
    .replace(`"${current}"`, `"${path}"`)
    .replace('type number = int64', `type number = ${number}`)
  writeFileSync(join(folder, 'flow.go'), flow)
  go(folder, ['build', '-p', '1', '-o', 'flow', '.'], env)
  return join(folder, 'flow')
}

if (import.meta.main) {
  const library = process.argv[2] as Library
  try {
    build(library, {})
  } catch (error) {
    console.error(`${library} cannot be built: ${(error as { stderr?: string }).stderr?.trim() ?? error}`)
    process.exitCode = 1
  }
}
