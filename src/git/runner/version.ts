import type { Runner } from './client.ts'
import type { Exit } from './protocol.ts'

/** `cat-file -z` and `merge-tree --write-tree` are of this version. */
const minimum = [2, 38] as const

/**
 * The version of the git that the runner finds, `2.39.5`. Throws an error whose message tells an administrator what to do when there is
 * none, or one that is too old. One process.
 */
export async function checkGitVersion(runner: Runner): Promise<string> {
  let text = ''
  let exit: Exit
  try {
    const child = await runner.start(['version'])
    text = Buffer.concat(await child.toArray()).toString('utf8')
    exit = await child.done
  } catch (error) {
    if ((error as Error).message.includes('ENOENT'))
      throw new Error(`git was not found: install git ${minimum.join('.')} or later`)
    throw error
  }
  const version = /^git version (\d+)\.(\d+)(?:\.\d+)*/.exec(text)
  if (exit.code !== 0 || !version) throw new Error(`git does not work: ${exit.stderr.trim() || text.trim()}`)
  const [, major, minor] = version.map(Number) as [number, number, number]
  const number = version[0].slice('git version '.length)
  if (major < minimum[0] || (major === minimum[0] && minor < minimum[1])) {
    throw new Error(`git ${number} is too old: install git ${minimum.join('.')} or later`)
  }
  return number
}
