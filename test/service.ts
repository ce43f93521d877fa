import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../src/processes/testing/launch.ts'
import { Client } from './world.ts'

/** The program that `npm start` and packages run. */
export const bin: string = fileURLToPath(new URL('../bin/stithy.js', import.meta.url))

export const rootToken: string = 'root-token-for-tests'

export type Env = Record<string, string> & { STITHY_DATA_DIR: string; STITHY_HTTP_PORT: string }

export type Service = { launched: Launched; origin: string; root: Client; env: Env }

const envFor = async (folder: string): Promise<Env> => ({
  STITHY_DATA_DIR: folder,
  STITHY_HTTP_PORT: String(await freePort()),
  STITHY_SSH_PORT: '0',
  STITHY_ROOT_TOKEN: rootToken,
  STITHY_LOG_LEVEL: 'fatal',
  STITHY_PROCESSES: '1',
})

/** A data folder after a first start and a stop. Creating its database takes most of a first start, so it is copied. */
async function startedOnce(): Promise<string> {
  const folder = await mkdtemp(join(inject('folder'), 'service-'))
  const launched = new Launched(['serve'], await envFor(folder), { file: bin, cleanUp: false })
  await launched.ready()
  launched.process.kill('SIGTERM')
  await launched.exit
  return folder
}

let template: Promise<string> | undefined

/** Settings of a service with one worker and its own data folder and ports; the test may change them before the start. */
export async function freshEnv(): Promise<Env> {
  template ??= startedOnce()
  const [from, to] = [await template, await temporaryFolder()]
  // Node's own copy does not preserve owners, and PostgreSQL insists on its own.
  const [code] = await once(spawn('cp', ['-a', `${from}/.`, to]), 'exit')
  if (code !== 0) throw new Error(`cp ended with ${code}`)
  return envFor(to)
}

/** As `freshEnv`, with an empty data folder: the first start creates the database and chooses where blobs are. */
export const emptyEnv = async (): Promise<Env> => envFor(await temporaryFolder())

/** Starts the real service as an operator does; it ends with the test. */
export async function serve(env: Env): Promise<Service> {
  const launched = new Launched(['serve'], env, { file: bin })
  await launched.ready()
  const origin = `http://127.0.0.1:${env.STITHY_HTTP_PORT}`
  return { launched, origin, env, root: new Client(origin, { id: 1, username: 'root', token: rootToken }) }
}
