import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Finding, findings } from './doctor-finding.ts'
import { requireGit } from './requirements.ts'

const git = findings('Git')
const timeoutMs = 30_000
const inCommits = ['-c', 'user.name=doctor', '-c', 'user.email=doctor@localhost']
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Whether git is new enough and can create a repository and merge without a working tree. */
export async function checkGit(command = 'git'): Promise<Finding[]> {
  const advice = 'Install a newer git, from your distribution or its backports, and put it on the PATH of the service.'
  try {
    await requireGit(command)
  } catch (error) {
    return [git.failed((error as Error).message.replace(/\.$/, ''), advice)]
  }
  const folder = await mkdtemp(join(tmpdir(), 'stithy-doctor-'))
  const run = async (...words: string[]): Promise<string> => {
    const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
    return (await promisify(execFile)(command, words, { cwd: folder, env, timeout: timeoutMs })).stdout.trim()
  }
  try {
    await run('init', '--quiet', '--bare')
    await run('hash-object', '-w', '-t', 'tree', '/dev/null')
    const commit = await run(...inCommits, 'commit-tree', '-m', 'doctor', emptyTree)
    await run('merge-tree', '--write-tree', commit, commit)
    return [git.ok(`${(await run('--version')).replace(/^git version /, '')}; merges without a working tree work`)]
  } catch (error) {
    return [git.failed(`a test repository failed: ${(error as Error).message.split('\n')[0]}`, advice)]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
