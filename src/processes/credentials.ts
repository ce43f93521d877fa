import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Credentials } from './app-module.ts'
import { writePrivateFile } from './data-dir.ts'

export const credentialsFile = (dataDir: string): string => join(dataDir, 'root-credentials')

type Root = { password: string; token: string }

/**
 * Determines the first administrator's password and token and stores them in a file *before* the database has them: a start
 * that is killed in between leaves the file for the next one, and never an administrator whose password is unknown. Call
 * `settle` with the created credentials, if any.
 */
export function proposeRoot(config: Config): { config: Config; settle(made: Credentials | undefined): void } {
  const file = credentialsFile(config.dataDir)
  const kept = readRoot(file)
  const root: Root = {
    password: config.root.password ?? kept?.password ?? randomBytes(18).toString('base64url'),
    token: config.root.token ?? kept?.token ?? randomBytes(15).toString('base64url'),
  }
  if (kept === undefined) writePrivateFile(file, formatRoot({ username: 'root', ...root }))
  return {
    config: { ...config, root },
    settle(made) {
      if (made !== undefined) writePrivateFile(file, formatRoot(made))
      else if (kept === undefined) rmSync(file, { force: true })
    },
  }
}

const formatRoot = ({ username, password, token }: Credentials): string =>
  `username: ${username}\npassword: ${password}\ntoken: ${token}\n`

function readRoot(file: string): Root | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const [password, token] = ['password', 'token'].map((name) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1])
  return password === undefined || token === undefined ? undefined : { password, token }
}
