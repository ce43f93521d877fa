import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyPair } from '../src/edges/git-ssh/key-pair.ts'
import { callApi } from './api.ts'

/** Options of OpenSSH: only this key, no user configuration, no prompts. */
export const sshOptions = (port: number, key: string): string[] => [
  ...['-F', '/dev/null', '-p', String(port), '-i', key],
  ...[
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
  ].flatMap((option) => ['-o', option]),
]

/** Generates a key pair; returns the path of the private key. The public key has the suffix `.pub`. */
export function newKey(folder: string, name: string): string {
  const file = join(folder, `ssh-${name}`)
  const pair = newKeyPair()
  rmSync(file, { force: true })
  writeFileSync(file, pair.private, { mode: 0o600 })
  writeFileSync(`${file}.pub`, pair.public)
  return file
}

/** Adds a key to the first administrator. */
export async function addKey(port: number, key: string): Promise<void> {
  await callApi(port, 'POST', '/user/keys', { title: 'bench', key: readFileSync(`${key}.pub`, 'utf8') })
}
