import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { isReading } from '../runner/command.ts'

/**
 * Whether a git process that may change the repository runs on this machine: one of this service, one that has outlived an earlier service
 * whose processes were all killed, or one of an operator. True where that is unknown. Reads `/proc`, some milliseconds.
 */
export async function mayBeChanging(gitDir: string): Promise<boolean> {
  const pids = await readdir('/proc').catch(() => [])
  const processes = pids.filter((name) => /^\d+$/.test(name))
  // Without `/proc` there is not even this process.
  if (!processes.includes(String(process.pid))) return true
  const found = await Promise.all(processes.map((pid) => mayChange(`/proc/${pid}`, basename(gitDir))))
  return found.includes(true)
}

/** `name` is that of the repository, which every way to name it ends with: an argument, a variable, the working directory. */
async function mayChange(folder: string, name: string): Promise<boolean> {
  try {
    const command = await readFile(`${folder}/cmdline`, 'utf8')
    const [program = '', ...args] = command.split('\0')
    if (!basename(program).startsWith('git')) return false
    if (isReading(args)) return false
    if (command.includes(name)) return true
    return (await readlink(`${folder}/cwd`)).includes(name) || (await readFile(`${folder}/environ`)).includes(name)
  } catch (error) {
    // Of another user it is not known. One that has ended changes nothing.
    return !['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}
