import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseConfig } from '../config.ts'
import { credentialsFile, proposeRoot } from './credentials.ts'
import { temporaryFolder } from './testing/launch.ts'

const made = (root: { password?: string; token?: string }) => ({
  username: 'root',
  password: root.password!,
  token: root.token!,
})

test('a start that was killed after the administrator was made still knows the password', async () => {
  const config = parseConfig({ STITHY_DATA_DIR: await temporaryFolder() })
  // The first start writes the file, makes the administrator, and never comes to settle.
  const killed = proposeRoot(config).config.root
  const next = proposeRoot(config)
  expect(next.config.root).toEqual(killed)
  next.settle(undefined)
  expect(readFileSync(credentialsFile(config.dataDir), 'utf8')).toContain(`token: ${killed.token}\n`)
})

test('two data folders have different secrets, long enough', async () => {
  const [one, two] = await Promise.all(
    [1, 2].map(async () => proposeRoot(parseConfig({ STITHY_DATA_DIR: await temporaryFolder() })).config.root),
  )
  expect(one!.password).not.toBe(two!.password)
  expect(one!.token).not.toBe(two!.token)
  expect(one!.token!.length).toBeGreaterThanOrEqual(20)
})

test('where somebody else made the administrator, no file pretends to know', async () => {
  const config = parseConfig({ STITHY_DATA_DIR: await temporaryFolder() })
  proposeRoot(config).settle(undefined)
  expect(existsSync(credentialsFile(config.dataDir))).toBe(false)
})

test('settings win over an older file once they have been used', async () => {
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
