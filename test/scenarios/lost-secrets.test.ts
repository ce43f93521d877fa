import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, type Env, freshEnv, serve } from '../service.ts'
import { eventually } from '../waiting.ts'

const command = async (words: readonly string[], env: Env) => {
  const launched = new Launched(words, env, { file: bin })
  return { code: await launched.exit, out: launched.out, err: launched.err }
}

/** The settings of a stopped service whose database has an encrypted variable, and its file of keys. */
async function withVariable(): Promise<{ env: Env; file: string }> {
  const env = { ...(await freshEnv()), STITHY_LOG_LEVEL: 'error' }
  const { root, launched } = await serve(env)
  const project = (await root.post('/projects', { name: 'secretive' })).json
  expect((await root.post(`/projects/${project.id}/variables`, { key: 'K', value: 'hidden' })).status).toBe(201)
  launched.process.kill('SIGTERM')
  await launched.exit
  return { env, file: join(env.STITHY_DATA_DIR, 'secrets.keys') }
}

const value = (root: { get(path: string): Promise<{ status: number; json: { value?: string } }> }) =>
  root.get('/projects/root%2Fsecretive/variables/K').then(({ status, json }) => [status, json.value])

test('without the file of keys, starts and commands are refused, and a restored one reads the secrets again', async () => {
  const { env, file } = await withVariable()
  const aside = join(await temporaryFolder(), 'keys')
  renameSync(file, aside)
  const refusal = `${file} is missing, which decrypts secrets in the database (variables.sealed_value): restore it from a backup. If it is lost, so are these secrets: "stithy adopt" makes another one.\n`
  for (const words of [['serve'], ['check'], ['rotate-secrets'], ['user', 'unlock', '--user', 'root']])
    expect(await command(words, env), words.join(' ')).toEqual({ code: 1, out: expect.anything(), err: refusal })
  const doctor = await command(['doctor'], env)
  expect(doctor).toMatchObject({ code: 1, out: expect.stringContaining(`failed   Database       ${file} is missing`) })
  const backup = await command(['backup', '--to', await temporaryFolder()], env)
  expect(backup).toMatchObject({ code: 1, err: expect.stringContaining('the data folder: secrets.keys is missing') })
  renameSync(aside, file)
  expect(await value((await serve(env)).root)).toEqual([200, 'hidden'])
})

test('a lost file of keys is replaced by adopt, and starts and doctor name the secrets that nothing decrypts', async () => {
  const { env, file } = await withVariable()
  rmSync(file)
  expect(await command(['adopt'], env)).toMatchObject({ code: 0 })
  const { launched, root } = await serve(env)
  await eventually(() =>
    expect(launched.out).toContain('"columns":["variables.sealed_value"],"msg":"secrets.keys lacks'),
  )
  expect((await command(['doctor'], env)).out).toContain(
    'failed   Secrets        no key in secrets.keys decrypts values of variables.sealed_value\n',
  )
  expect((await root.post('/projects/root%2Fsecretive/variables', { key: 'L', value: 'new' })).status).toBe(201)
})

test('doctor is content when the lost key is added to the file', async () => {
  const { env, file } = await withVariable()
  const old = readFileSync(file, 'utf8')
  const other = `${Buffer.alloc(32, 7).toString('base64url')}\n`
  writeFileSync(file, other)
  expect((await command(['doctor'], env)).out).toContain('failed   Secrets ')
  writeFileSync(file, other + old)
  expect((await command(['doctor'], env)).out).not.toContain('Secrets')
  expect(await value((await serve(env)).root)).toEqual([200, 'hidden'])
})
