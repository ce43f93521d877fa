import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseConfig } from '../config.ts'
import { credentialsFile, proposeRoot } from './credentials.ts'
import { temporaryFolder } from './testing/launch.ts'

const made = (root: { password?: string; token?: string }) => ({
  username: 'root',
  password: root.password!,
  token: root.token!,
})

test('a start after one that was killed after creating the administrator has its password', async () => {
  const config = parseConfig({ STITHY_DATA_DIR: await temporaryFolder() })
  // The first start writes the file, creates the administrator, and is killed before it settles.
  const killed = proposeRoot(config).config.root
  const next = proposeRoot(config)
  expect(next.config.root).toEqual(killed)
  next.settle(undefined)
  expect(readFileSync(credentialsFile(config.dataDir), 'utf8')).toContain(`token: ${killed.token}\n`)
})

test('two data folders have different, long enough secrets', async () => {
  const [one, two] = await Promise.all(
    [1, 2].map(async () => proposeRoot(parseConfig({ STITHY_DATA_DIR: await temporaryFolder() })).config.root),
  )
  expect(one!.password).not.toBe(two!.password)
  expect(one!.token).not.toBe(two!.token)
  expect(one!.token!.length).toBeGreaterThanOrEqual(20)
})

test('no credentials file remains when another process created the administrator', async () => {
  const config = parseConfig({ STITHY_DATA_DIR: await temporaryFolder() })
  proposeRoot(config).settle(undefined)
  expect(existsSync(credentialsFile(config.dataDir))).toBe(false)
})

test('a start of an installation that exists leaves no invalid credentials if it is killed during a migration', async () => {
  const config = parseConfig({ STITHY_DATA_DIR: await temporaryFolder() })
  // The administrator has deleted the file.
  writeFileSync(join(config.dataDir, 'installation'), '')
  proposeRoot(config)
  expect(existsSync(credentialsFile(config.dataDir))).toBe(false)
  const { config: proposed, settle } = proposeRoot(config)
  settle(made(proposed.root))
  expect(readFileSync(credentialsFile(config.dataDir), 'utf8')).toContain(proposed.root.token)
})

test('settings replace the credentials of an older file once they have been used', async () => {
  const env = { STITHY_DATA_DIR: await temporaryFolder() }
  const first = proposeRoot(parseConfig(env))
  first.settle(made(first.config.root))
  const token = 'a-token-of-20-letters'
  const second = proposeRoot(parseConfig({ ...env, STITHY_ROOT_TOKEN: token }))
  expect(second.config.root).toEqual({ password: first.config.root.password, token })
  second.settle(undefined)
  expect(readFileSync(credentialsFile(env.STITHY_DATA_DIR), 'utf8')).not.toContain(token)
  second.settle(made(second.config.root))
  expect(readFileSync(credentialsFile(env.STITHY_DATA_DIR), 'utf8')).toContain(token)
})
