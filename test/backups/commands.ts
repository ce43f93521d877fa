import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, type Env } from '../service.ts'

/** Runs a command until it ends. */
export async function command(words: readonly string[], env: Record<string, string>) {
  const launched = new Launched(words, env, { file: bin })
  return { code: await launched.exit, out: launched.out, err: launched.err }
}

/** Makes a backup; its id. */
export async function backUp(env: Record<string, string>, ...options: string[]): Promise<string> {
  const { code, out, err } = await command(['backup', ...options], env)
  expect(code, out + err).toBe(0)
  return /^Backup (\S+):/m.exec(out)![1]!
}

/** Ids and moments of all backups. */
export async function listed(env: Record<string, string>): Promise<{ id: string; moment: Date }[]> {
  const { out } = await command(['backup', 'list'], env)
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.split('\t')[0]!, moment: new Date(line.split('\t')[1]!) }))
}

/** Settings of a service for a restored copy, in a folder of its own. */
export async function copyEnv(env: Env): Promise<Env> {
  const folder = join(await temporaryFolder(), 'copy')
  return { ...env, STITHY_DATA_DIR: folder, STITHY_HTTP_PORT: String(await freePort()) }
}

/** Paths of the stored contents of backups in a folder. */
export async function objectsIn(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}
