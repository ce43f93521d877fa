import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contextFor } from '../../../../test/contexts.ts'
import { isInstalled } from '../../../../test/programs/installed.ts'
import { runSync } from '../../../../test/programs/run.ts'
import { type Client, unique, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type TestCommit, testEnv } from '../../../git/testing.ts'
import { type StoredProject, storedProject } from '../commits/testing.ts'
import { judgeSignatures } from './jobs.ts'

export const hasGpg = isInstalled('gpg')
export const hasSshKeygen = isInstalled('ssh-keygen')

/** A temporary folder of keys for gpg and ssh-keygen. Its path is short, because gpg's socket is in it. */
export class Keyring implements Disposable {
  readonly #home = mkdtempSync('/tmp/ring-')

  #run(command: string, ...args: string[]): string {
    return runSync(command, args, { env: this.env }).stdout
  }

  get env() {
    return { ...testEnv, HOME: this.#home, GNUPGHOME: this.#home }
  }

  gpg(...args: string[]): string {
    return this.#run('gpg', '--batch', '--pinentry-mode', 'loopback', '--passphrase', '', ...args)
  }

  /** Creates an OpenPGP signing key and returns its fingerprint. */
  gpgKey(identity: string, { algorithm = 'ed25519', expires = 'never', more = [] as string[] } = {}): string {
    this.gpg(...more, '--quick-generate-key', identity, algorithm, 'sign', expires)
    return this.gpg('--list-keys', '--with-colons', identity).match(/^fpr:+([0-9A-F]+):/m)![1]!
  }

  /** A detached signature of these bytes. */
  gpgSign(key: string, payload: Buffer, ...more: string[]): string {
    const file = join(this.#home, 'payload')
    writeFileSync(file, payload)
    return this.gpg('--armor', ...more, '--local-user', key, '--output', '-', '--detach-sign', file)
  }

  exportGpg(fingerprint: string): string {
    return this.gpg('--armor', '--export', fingerprint).trim()
  }

  /** Creates an SSH key and returns its path and its public key. */
  sshKey(type: 'ed25519' | 'rsa' | 'ecdsa', bits: number): { path: string; text: string } {
    const path = join(this.#home, `id_${type}_${bits}`)
    this.#run('ssh-keygen', '-q', '-t', type, '-b', String(bits), '-N', '', '-C', 'ann', '-f', path)
    return { path, text: this.#run('cat', `${path}.pub`).trim() }
  }

  /** Signs bytes as git does: `ssh-keygen -Y sign`. */
  sshSign(path: string, payload: string, namespace = 'git', hash = 'sha512'): string {
    const file = join(this.#home, 'payload')
    rmSync(`${file}.sig`, { force: true })
    writeFileSync(file, payload)
    this.#run('ssh-keygen', '-q', '-Y', 'sign', '-n', namespace, '-O', `hashalg=${hash}`, '-f', path, file)
    return this.#run('cat', `${file}.sig`)
  }

  [Symbol.dispose](): void {
    if (hasGpg) execFileSync('gpgconf', ['--kill', 'all'], { env: this.env, stdio: 'ignore' })
    rmSync(this.#home, { recursive: true, force: true })
  }
}

/** A commit that git signs, on no branch. */
export function signedCommit(
  { repository }: StoredProject,
  ring: Keyring,
  {
    key,
    email,
    format = 'openpgp',
    seconds,
  }: { key: string; email: string; format?: 'openpgp' | 'ssh' } & Pick<TestCommit, 'seconds'>,
): Oid {
  const tree = repository.git('mktree')
  const date = seconds === undefined ? {} : { GIT_COMMITTER_DATE: `${seconds} +0000` }
  return execFileSync(
    'git',
    [
      '-C',
      repository.gitDir,
      '-c',
      `gpg.format=${format}`,
      '-c',
      `user.signingkey=${key}`,
      'commit-tree',
      '-S',
      '-m',
      `by ${key}`,
      tree,
    ],
    { env: { ...ring.env, GIT_COMMITTER_EMAIL: email, ...date }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  ).trim() as Oid
}

/** A stored commit, one character for each byte. */
const commitText = ({ repository }: StoredProject, oid: Oid): string =>
  execFileSync('git', ['-C', repository.gitDir, 'cat-file', 'commit', oid], { encoding: 'latin1' })

/** Stores a copy of a commit that `change` modifies, one character for each byte. */
export function changedCommit(project: StoredProject, oid: Oid, change: (text: string) => string): Oid {
  const stored = ['-C', project.repository.gitDir, 'hash-object', '-t', 'commit', '-w', '--literally', '--stdin']
  const input = Buffer.from(change(commitText(project, oid)), 'latin1')
  return execFileSync('git', stored, { input, encoding: 'utf8' }).trim() as Oid
}

/** Stores a copy of a commit with the signature that `sign` returns. */
export async function commitSignedBy(
  project: StoredProject,
  oid: Oid,
  sign: (payload: string) => string | Promise<string>,
): Promise<Oid> {
  const armored = await sign(commitText(project, oid))
  const header = `gpgsig ${armored.trim().replaceAll(/\r?\n/g, '\n ')}\n`
  return changedCommit(project, oid, (text) => text.replace('\n\n', `\n${header}\n`))
}

/** The signature record of a commit, as a client sees it. */
export const signature = async (who: Client, { id }: StoredProject, oid: Oid) =>
  (await who.get(`/projects/${id}/repository/commits/${oid}/signature`)).json

/** Runs the queued verification job of a user, if there is one. */
export async function runDue(world: World, userId: number): Promise<void> {
  const key = `judge_signatures:${userId}`
  const [due] = await world.takeJobs(key)
  if (due) await judgeSignatures.run({ userId }, await contextFor(world, null))
}

/** A user with a unique address, and a project. */
export async function begin(world: World) {
  const email = `${unique('ann')}@example.com`
  return { email, ann: await world.user({ email }), project: await storedProject(world) }
}
