import { readdirSync, readFileSync } from 'node:fs'

/** Memory of processes of one kind, in bytes. A page that several processes map counts in each with its share. */
export type Memory = {
  kind: string
  processes: number
  /** Proportional set size: the sum of the three below. */
  pss: number
  anonymous: number
  /** Memory that processes share on purpose, such as PostgreSQL's buffers. */
  shared: number
  /** Pages of files: programs, libraries. They can be read again, so they are freed when memory is short. */
  file: number
}

const kinds: readonly (readonly [RegExp, string])[] = [
  [/^stithy git runner/, 'git runner'],
  [/^stithy (worker|jobs)/, '$1'],
  [/^stithy|bin\/stithy\.js|src\/main\.ts/, 'primary'],
  [/^postgres: .*\[local\]/, 'PostgreSQL connection'],
  [/^postgres: |bin\/postgres/, 'PostgreSQL server'],
  [/^(\S*\/)?git /, 'git'],
]

/** Memory by kind of process, the largest first. Processes that end meanwhile are left out. */
export function memoryOf(pids: readonly number[]): Memory[] {
  const byKind = new Map<string, Memory>()
  for (const pid of pids) {
    const rollup = readOrEmpty(`/proc/${pid}/smaps_rollup`)
    if (rollup === '') continue
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0) * 1024
    const kind = kindOf(readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
    const sum = byKind.get(kind) ?? { kind, processes: 0, pss: 0, anonymous: 0, shared: 0, file: 0 }
    byKind.set(kind, {
      kind,
      processes: sum.processes + 1,
      pss: sum.pss + bytes('Pss'),
      anonymous: sum.anonymous + bytes('Pss_Anon'),
      shared: sum.shared + bytes('Pss_Shmem'),
      file: sum.file + bytes('Pss_File'),
    })
  }
  return [...byKind.values()].sort((a, b) => b.pss - a.pss)
}

/** PSS of all together, in bytes. */
export const totalOf = (memory: readonly Memory[]): number => memory.reduce((sum, { pss }) => sum + pss, 0)

function kindOf(commandLine: string): string {
  for (const [pattern, kind] of kinds) {
    const match = pattern.exec(commandLine)
    if (match) return kind.replace('$1', match[1] ?? '')
  }
  return 'other'
}

/** A process and its descendants. */
export function processTree(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    parents.set(Number(name), Number(statOf(name)[1]))
  }
  const tree = [root]
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child)
  return tree
}

/** The fields of `/proc/<pid>/stat` from the third on. The program name before them is in parentheses and may contain anything. */
export function statOf(pid: number | string): string[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** A file of /proc; empty if its process has ended. */
export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
