import { join } from 'node:path'
import { run, runSync } from './programs/run.ts'
import { waitMs } from './waiting.ts'
import type { Client, TestProject, World } from './world.ts'

const isInstalled = (program: string): boolean => {
  try {
    runSync('which', [program])
    return true
  } catch {
    return false
  }
}

/** Whether the OpenSSH client is installed; the title of a `describe.skipIf(!hasSsh)` says that it is needed. */
export const hasSsh: boolean = isInstalled('ssh') && isInstalled('ssh-keygen')

export type KeyPair = { readonly file: string; readonly text: string }

let count = 0

/** A new key pair in a folder, made by OpenSSH. */
export async function keyPair(folder: string, ...options: string[]): Promise<KeyPair> {
  const file = join(folder, `key-${++count}`)
  await run('ssh-keygen', [
    '-q',
    '-N',
    '',
    '-C',
    'user@example',
    '-f',
    file,
    ...(options.length > 0 ? options : ['-t', 'ed25519']),
  ])
  return { file, text: (await run('cat', [`${file}.pub`])).stdout.trim() }
}

const options = (world: World, key: KeyPair | undefined): string[] => [
  ...['-F', '/dev/null', '-p', String(world.config.sshPort)],
  ...(key ? ['-i', key.file] : []),
  ...[
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
  ].flatMap((option) => ['-o', option]),
]

/** The arguments of `ssh`: options, host and command. */
export const sshWords = (world: World, key: KeyPair, ...words: string[]): string[] => [
  ...options(world, key),
  'git@127.0.0.1',
  ...words,
]

export type Outcome = { code: number; out: string; err: string }

/** Runs `ssh` with these options and this command; never rejects. */
export async function ssh(world: World, key: KeyPair, ...words: string[]): Promise<Outcome> {
  return outcome(run('ssh', sshWords(world, key, ...words), { timeoutMs: waitMs }))
}

/** The same with options before the host, or a user name other than `git`. */
export async function sshWith(
  world: World,
  key: KeyPair,
  before: string[],
  who: string,
  ...words: string[]
): Promise<Outcome> {
  return outcome(run('ssh', [...options(world, key), ...before, `${who}@127.0.0.1`, ...words], { timeoutMs: waitMs }))
}

/** Runs git in a folder, over SSH with this key; never rejects. */
export async function gitSsh(world: World, key: KeyPair, folder: string, ...words: string[]): Promise<Outcome> {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_SSH_COMMAND: ['ssh', ...options(world, key)].join(' '),
  }
  return outcome(run('git', words, { cwd: folder, env, timeoutMs: waitMs }))
}

async function outcome(running: Promise<{ stdout: string; stderr: string }>): Promise<Outcome> {
  try {
    const { stdout, stderr } = await running
    return { code: 0, out: stdout, err: stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code: typeof code === 'number' ? code : -1, out: stdout, err: stderr }
  }
}

export const sshUrl = (world: World, project: Pick<TestProject, 'full_path'>): string =>
  `ssh://git@127.0.0.1:${world.config.sshPort}/${project.full_path}.git`

/** A key pair that is added to the user's account. */
export async function withKey(folder: string, who: Client): Promise<KeyPair> {
  const key = await keyPair(folder)
  const added = await who.post('/user/keys', { title: 'laptop', key: key.text })
  if (added.status !== 201) throw new Error(added.text)
  return key
}

/** A deploy key that is enabled in a project. */
export async function deployKey(
  world: World,
  folder: string,
  project: { id: number },
  can_push: boolean,
): Promise<KeyPair> {
  const key = await keyPair(folder)
  const made = await world.root.post(`/projects/${project.id}/deploy_keys`, { title: 'robot', key: key.text, can_push })
  if (made.status !== 201) throw new Error(made.text)
  return key
}

/** What the service says when it refuses, because the project is hidden, or what the caller may not do there. */
export const sshRefusals = {
  missing: 'Stithy: The project you were looking for could not be found.',
  unreadable: 'Stithy: You are not allowed to download code from this project.',
  unwritable: 'Stithy: You are not allowed to push code to this project.',
}
