import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FormData } from 'undici'
import { expect } from 'vitest'
import { Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, type Env, freshEnv, type Service, serve } from '../service.ts'

/** A key file. */
export async function keyFile(text = 'a key of more than thirty-two characters'): Promise<string> {
  const file = join(await temporaryFolder(), 'key')
  await writeFile(file, `${text}\n`)
  return file
}

export type Installation = { readonly service: Service; readonly env: Env; readonly store: string }

/** A running service with a project, an issue and an upload; and a place for its backups. */
export async function startInstallation(more: Record<string, string> = {}): Promise<Installation> {
  const store = join(await temporaryFolder(), 'backups')
  const env = Object.assign(await freshEnv(), { STITHY_BACKUP_URL: store, ...more })
  const service = await serve(env)
  const { root } = service
  expect((await root.post('/projects', { path: 'one', initialize_with_readme: true })).status).toBe(201)
  await root.post('/projects/1/issues', { title: 'remembered' })
  const form = new FormData()
  form.set('file', new Blob(['uploaded']), 'file.txt')
  await root.send('POST', '/projects/1/uploads', { body: form })
  return { service, env, store }
}

export async function stop({ launched }: Service): Promise<void> {
  launched.process.kill('SIGTERM')
  await launched.exit
}

/** Why a service does not start with these settings; empty if it does. */
export async function refusal(env: Env): Promise<string> {
  const launched = new Launched(['serve'], env, { file: bin })
  const error = await launched.ready().then(
    () => '',
    () => launched.err,
  )
  launched.process.kill('SIGTERM')
  await launched.exit
  return error
}
