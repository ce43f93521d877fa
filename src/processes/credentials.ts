import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { isThere, missingAs } from '../kernel/missing.ts'
import { writePrivateFile } from '../kernel/private-file.ts'
import type { Credentials } from './app-module.ts'

export const credentialsFile = (dataDir: string): string => join(dataDir, 'root-credentials')

type Root = { password: string; token: string }

/** Exists from the first start on, before there are users (`modules/projects/installation/marker.ts`). */
export const isInstalled = (dataDir: string): boolean => isThere(join(dataDir, 'installation'))

/**
 * Determines the first administrator's password and token and stores them in a file *before* the database has them: a start
 * that is killed in between leaves the file for the next one, and never an administrator whose password is unknown. Later starts, which may be
 * killed while they migrate, store only what `settle` says was created. Call `settle` with the created credentials, if any.
 */
export function proposeRoot(config: Config): { config: Config; settle(made: Credentials | undefined): void } {
  const file = credentialsFile(config.dataDir)
  const stored = readRoot(file)
  const root: Root = {
    password: config.root.password ?? stored?.password ?? randomBytes(18).toString('base64url'),
    token: config.root.token ?? stored?.token ?? randomBytes(15).toString('base64url'),
  }
  if (stored === undefined && !isInstalled(config.dataDir))
    writePrivateFile(file, formatRoot({ username: 'root', ...root }))
  return {
    config: { ...config, root },
    settle(made) {
      if (made !== undefined) writePrivateFile(file, formatRoot(made))
      else if (stored === undefined) rmSync(file, { force: true })
    },
  }
}

const formatRoot = ({ username, password, token }: Credentials): string =>
  `username: ${username}\npassword: ${password}\ntoken: ${token}\n`

function readRoot(file: string): Root | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return missingAs(undefined)(error)
  }
  const [password, token] = ['password', 'token'].map((name) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1])
  return password === undefined || token === undefined ? undefined : { password, token }
}
