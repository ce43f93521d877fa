import { repositoryPath, type Service } from '../../modules/transport/index.ts'

/** The commands that a client may run. */
export type Command =
  | { readonly kind: 'welcome' }
  | { readonly kind: 'transfer'; readonly service: Service | 'git-upload-archive'; readonly path: string }
  | { readonly kind: 'large-files'; readonly operation: 'download' | 'upload'; readonly path: string }
  | { readonly kind: 'recovery-codes' }
  | { readonly kind: 'unknown' }

/** One word of a POSIX shell, as git quotes it. Repository paths need no other quoting. */
const word = new RegExp(`^(?:'(/?${repositoryPath}(?:\\.git)?/?)'|(/?${repositoryPath}(?:\\.git)?/?))$`)
const services = new Set(['git-upload-pack', 'git-receive-pack', 'git-upload-archive'])
const longest = 4096

/**
 * Parses a command without a shell: it must match one of the known forms completely, or it is `unknown`. `undefined` means that
 * no command was given.
 */
export function parseCommand(text: string | undefined): Command {
  if (text === undefined) return { kind: 'welcome' }
  if (text.length > longest) return { kind: 'unknown' }
  // Compat: old clients send `git upload-pack`.
  const said = text.replace(/^git (?=[a-z])/, 'git-')
  const space = said.indexOf(' ')
  const [name, rest] = space < 0 ? [said, ''] : [said.slice(0, space), said.slice(space + 1)]
  if (name === 'git-lfs-authenticate') return readLargeFiles(rest)
  if (name === '2fa_recovery_codes') return { kind: 'recovery-codes' }
  const path = services.has(name) ? readPath(rest) : undefined
  return path === undefined ? { kind: 'unknown' } : { kind: 'transfer', service: name as Service, path }
}

/** A path and an operation; old clients append the hash of a file, which is ignored. */
function readLargeFiles(text: string): Command {
  const [, place, operation] = /^(\S+) (download|upload)(?: [0-9a-f]{64})?$/.exec(text) ?? []
  const path = place === undefined ? undefined : readPath(place)
  return path === undefined
    ? { kind: 'unknown' }
    : { kind: 'large-files', operation: operation as 'download' | 'upload', path }
}

/** `'/group/project.git'`, with or without quotes, slash and suffix, is `group/project`. */
function readPath(text: string): string | undefined {
  const [, quoted, inQuotes, , bare] = word.exec(text) ?? []
  return quoted === undefined ? bare : inQuotes
}
