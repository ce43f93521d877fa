import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Tells a process from another that gets its number later, on this boot or another. Undefined when there is none, or
 * only a zombie: that one is dead and merely not yet buried.
 */
export function identityOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name, in parentheses, may hold anything; the fields after it are state (3rd) … start time (22nd).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`
    }
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '')
  } catch {
    return undefined
  }
}
