import { execFileSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../src/processes/testing/launch.ts'

/**
 * The variable `PATH` of a service whose git kills a process with SIGKILL at its first runs whose arguments match a pattern of the shell: itself, or
 * the process that started it.
 */
export async function killingGit(pattern: string, kills: 'itself' | 'its parent', times = 1): Promise<string> {
  const folder = await temporaryFolder()
  const before = process.env['PATH']!
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const counted = Array.from({ length: times }, (_, n) => `mkdir '${folder}/killed-${n}' 2>&-`).join(' || ')
  const lines = [
    '#!/bin/sh',
    `case "$*" in ${pattern}) { ${counted}; } && kill -9 ${kills === 'itself' ? '$$' : '$PPID'} ;; esac`,
    `PATH='${before}' exec '${real}' "$@"`,
    '',
  ]
  await writeFile(join(folder, 'git'), lines.join('\n'))
  await chmod(join(folder, 'git'), 0o700)
  return `${folder}:${before}`
}
