import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyPair } from '../src/edges/git-ssh/key-pair.ts'
import { callApi } from './api.ts'

/** Options of OpenSSH: this key and no other, nothing of the person's own, nobody to ask. */
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

/** A new key pair; the path of the private key, beside which the public one has `.pub`. */
export function newKey(folder: string, name: string): string {
  const file = join(folder, `ssh-${name}`)
  const pair = newKeyPair()
  rmSync(file, { force: true })
  writeFileSync(file, pair.private, { mode: 0o600 })
  writeFileSync(`${file}.pub`, pair.public)
  return file
}

/** Gives a key to the first administrator. */
export async function addKey(port: number, key: string): Promise<void> {
  await callApi(port, 'POST', '/user/keys', { title: 'bench', key: readFileSync(`${key}.pub`, 'utf8') })
}
