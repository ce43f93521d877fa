import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { FileOperation } from './disk.ts'

const syscalls = [
  ['open', 'openat', 'creat', 'mkdir', 'mkdirat'],
  ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'copy_file_range', 'sendfile', 'ftruncate', 'fallocate'],
  ['fsync', 'fdatasync'],
  ['rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'rmdir', 'chdir'],
].flat()

/** The command prefix that runs a command and records its file operations and those of all its child processes. */
export const recorder = (file: string): string[] => [
  'strace',
  ...['-f', '-y', '--seccomp-bpf', '-q', '-s', '12', '-o', file],
  ...['-e', `trace=${syscalls.join(',')}`, '-e', 'signal=none'],
]

/** Why recording is impossible here; `undefined` when it is possible. */
export function noRecorder(): string | undefined {
  const [program, ...words] = recorder('/dev/null') as [string, ...string[]]
  const { status, error } = spawnSync(program, [...words, 'true'], { encoding: 'utf8' })
  if (error) return 'strace is not installed'
  return status === 0 ? undefined : 'strace may not trace processes here'
}

/** `answer` is what the service sends over a socket when it acknowledges a request: the head of a success, or its end. */
export type Recorded = FileOperation | { readonly kind: 'answer' }

/** Reads a recording line by line while it grows. */
export class Recording {
  /** Calls whose line another process interrupted, by process. */
  readonly #unfinished = new Map<string, string>()
  readonly #cwd = new Map<string, string>()

  read(text: string): Recorded[] {
    return text.split('\n').flatMap((line) => [...this.#readLine(line)])
  }

  *#readLine(line: string): Generator<Recorded> {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (isAnswer(rest)) yield { kind: 'answer' }
    const call = this.#whole(pid, rest)
    if (call !== undefined) yield* this.#operation(pid, call)
  }

  #whole(pid: string, text: string): string | undefined {
    if (text.endsWith('<unfinished ...>')) {
      this.#unfinished.set(pid, text.slice(0, -'<unfinished ...>'.length))
      return undefined
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)
    return resumed ? `${this.#unfinished.get(pid) ?? ''}${resumed[1]}` : text
  }

  *#operation(pid: string, call: string): Generator<FileOperation> {
    const cwd = /AT_FDCWD<([^>]*)>/.exec(call)?.[1]
    if (cwd !== undefined) this.#cwd.set(pid, cwd)
    const [, name = '', args = '', result = ''] = /^(\w+)\((.*)\) += (-?\d+|\?)/.exec(call) ?? []
    if (result === '' || result.startsWith('-')) return
    const here = this.#cwd.get(pid) ?? '/'
    // A path is quoted, and follows the folder it is relative to in calls that take one.
    const paths = [...args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)].map(([, base, path]) =>
      resolve(base ?? here, path ?? ''),
    )
    const descriptor = /^\d+<(\/[^>]*)>/.exec(args)?.[1]
    const [path, to] = paths
    if (name === 'chdir') this.#cwd.set(pid, path!)
    else if (/^(?:open|openat|creat)$/.test(name)) {
      if (/O_CREAT|^creat/.test(`${name} ${args}`.replace(/^creat .*/, 'creat'))) yield { kind: 'create', path: path! }
      if (/O_TRUNC/.test(args)) yield { kind: 'write', path: path! }
    } else if (/^mkdir/.test(name)) yield { kind: 'make folder', path: path! }
    else if (/^(?:unlink|rmdir)/.test(name)) yield { kind: 'remove', path: path! }
    else if (/^(?:rename|link)/.test(name))
      yield { kind: name.startsWith('rename') ? 'rename' : 'link', path: path!, to: to! }
    else if (descriptor !== undefined)
      yield { kind: /sync$/.test(name) ? 'sync' : 'write', path: descriptor.replace(/ \(deleted\)$/, '') }
  }
}

const isAnswer = (call: string): boolean =>
  /^writev?\(\d+<socket:/.test(call) && /"(?:HTTP\/1\.1 2|0\\r\\n\\r\\n")/.test(call)
