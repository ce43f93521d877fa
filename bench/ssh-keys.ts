import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyPair } from '../src/edges/git-ssh/key-pair.ts'
import { rootToken } from './world.ts'

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
  const added = await fetch(`http://127.0.0.1:${port}/api/v4/user/keys`, {
    method: 'POST',
    headers: { 'private-token': rootToken, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'bench', key: readFileSync(`${key}.pub`, 'utf8') }),
  })
  if (added.status !== 201) throw new Error(`the key was refused: ${await added.text()}`)
}
