import { readFile } from 'node:fs/promises'
import { freePort, Launched } from '../src/processes/testing/launch.ts'
import { bin, freshEnv } from './service.ts'
import { Client, type World } from './world.ts'

/** Starts a service on its own ports that logs as an operator sees it. */
export async function launchLogged() {
  const env = {
    ...(await freshEnv()),
    STITHY_LOG_LEVEL: 'info',
    STITHY_PROCESSES: '1',
    STITHY_SSH_PORT: String(await freePort()),
  }
  const launched = new Launched(['serve'], env, { file: bin })
  await launched.ready()
  const origin = `http://127.0.0.1:${env.STITHY_HTTP_PORT}`
  return {
    origin,
    root: new Client(origin, { id: 1, username: 'root', token: 'root-token-for-tests' }),
    anonymous: new Client(origin),
    at: { config: { sshPort: Number(env.STITHY_SSH_PORT) } } as World,
    text: () => launched.out.slice(0, launched.out.lastIndexOf('\n') + 1),
    lines: () => parsed(launched.out),
  }
}

const parsed = (out: string): Record<string, any>[] =>
  out
    .slice(0, out.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line))

/** Headers of a client at this address behind a proxy on this machine. */
export const from = (address: string) => ({ 'x-forwarded-for': address })
export const basic = (username: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`,
})

/** The filter for fail2ban that docs/logging.md contains. */
export async function fail2banFilter(): Promise<string> {
  const text = await readFile(new URL('../docs/logging.md', import.meta.url), 'utf8')
  return /^\[Definition\]\n[\s\S]*?(?=^```$)/m.exec(text)![0]
}

/** Its pattern of failures, with a group `host` for the address. */
export async function failRegex(): Promise<RegExp> {
  const pattern = /^failregex = (.*)$/m.exec(await fail2banFilter())![1]!
  return new RegExp(pattern.replace('<HOST>', '(?<host>[\\da-f.:]+)'))
}
